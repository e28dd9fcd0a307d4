// The EM loop. Row t of the history describes the parameters after t M-steps; a state can be taken up again at any
// row because the E-step that gave the row is repeated, bit for bit, from the row's parameters.

#include <gsc/fit.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "learning/basis_prior.h"
#include "learning/factored_m_step.h"

namespace gsc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Free energies closer than this are equal up to rounding.
double rounding_of(double free_energy) { return 1e-11 * std::abs(free_energy); }

class Learner {
 public:
  Learner(const Data& data, const FitOptions& options, FitState state, Observer* observer)
      : data_(data), options_(options), inference_(options.inference), state_(std::move(state)), observer_(observer) {
    inference_.mean_products = options.noise_update == Update::paper;
    if (observer_ != nullptr) stop_ = [this] { return observer_->stop_requested(); };
  }

  FitResult run() {
    const auto start = Clock::now();
    row_start_ = start;
    StopReason reason = StopReason::iterations;
    try {
      Statistics statistics = expectation(state_.model);
      if (state_.history.empty()) {
        Rescues rescues;
        rescues.clamped_pivots = statistics.clamped_pivots;
        report(statistics, rescues);
      }
      row_start_ = Clock::now();
      while (state_.history.back().iteration < options_.iterations && !converged()) statistics = iterate(statistics);
      if (converged()) reason = StopReason::converged;
    } catch (const Interrupted&) {
      reason = StopReason::interrupted;
    }
    return {std::move(state_), reason, seconds_since(start)};
  }

 private:
  bool factored() const { return inference_.method == Method::factored; }

  Statistics expectation(const Model& model) {
    if (!factored()) return e_step(model, data_, inference_, stop_);
    const int row = state_.history.empty() ? 0 : state_.history.back().iteration;
    return sweep(model, row);
  }

  /// The sweep that judges row `row`, from state_.factored.codes to codes_. It is not interrupted half-way, as the
  /// codes it starts from belong to the row before.
  Statistics sweep(const Model& model, int row) {
    std::vector<Index> order(static_cast<std::size_t>(model.latents()));
    std::iota(order.begin(), order.end(), Index{0});
    if (options_.factored.order == SweepOrder::random) {
      std::seed_seq seed{options_.seed & 0xffffffffU, options_.seed >> 32U, static_cast<std::uint64_t>(row)};
      std::shuffle(order.begin(), order.end(), Random(seed));
    }
    return factored_step(model, data_, inference_, order, state_.factored.codes, codes_);
  }

  Statistics iterate_factored(const Statistics& statistics) {
    if (stop_ && stop_()) throw Interrupted("interrupted");
    Rescues rescues;
    state_.model = factored_m_step(state_.model, statistics, options_.factored, state_.factored, rescues);
    std::swap(state_.factored.codes, codes_);
    Statistics next = sweep(state_.model, state_.history.back().iteration + 1);
    report(next, rescues);
    return next;
  }

  /// One M-step and the E-step that judges it; returns the new statistics.
  Statistics iterate(const Statistics& statistics) {
    if (factored()) return iterate_factored(statistics);
    const double before = statistics.free_energy;
    MStepOptions step{options_.noise_update, options_.slab_update, state_.slab_acceleration};
    Rescues rescues;
    Model next = m_step(state_.model, statistics, step, rescues);
    Statistics next_statistics = expectation(next);
    const bool accelerated = next.slab.type() == SlabType::full && options_.slab_update == Update::exact;
    while (accelerated && step.slab_acceleration > 0 && next_statistics.free_energy < before - rounding_of(before)) {
      step.slab_acceleration = step.slab_acceleration > 0.2 ? step.slab_acceleration / 2 : 0;
      ++rescues.slab_fallbacks;
      next = m_step(state_.model, statistics, step, rescues);
      next_statistics = expectation(next);
    }
    state_.slab_acceleration = step.slab_acceleration;
    state_.model = std::move(next);
    rescues.clamped_pivots = next_statistics.clamped_pivots;
    report(next_statistics, rescues);
    return next_statistics;
  }

  void report(const Statistics& statistics, const Rescues& rescues) {
    IterationReport row;
    row.iteration = state_.history.empty() ? 0 : state_.history.back().iteration + 1;
    row.free_energy = statistics.free_energy - state_.factored.basis_divergence;
    row.noise_std = std::sqrt(state_.model.noise.mean_variance());
    row.mean_active = statistics.s.sum() / statistics.count;
    row.latents_in_use = (statistics.s.array() >= 1).count();
    row.seconds = seconds_since(row_start_);
    row.dip = !state_.history.empty() &&
              row.free_energy < state_.history.back().free_energy - 1e-9 * std::abs(row.free_energy);
    row.rescues = rescues.total();
    row_start_ = Clock::now();
    state_.rescues += rescues;
    state_.history.push_back(row);
    if (!std::isfinite(row.free_energy))
      throw Error("the free energy is " + std::to_string(row.free_energy) + " after iteration " +
                  std::to_string(row.iteration) +
                  ": the numbers have left the range of the arithmetic; rescale the data (or use double precision)");
    if (observer_ != nullptr) observer_->on_iteration(state_);
  }

  bool converged() const {
    const auto& history = state_.history;
    if (options_.tolerance <= 0 || history.size() < 2) return false;
    const double last = history.back().free_energy, change = std::abs(last - history[history.size() - 2].free_energy);
    return change < options_.tolerance * std::abs(last);
  }

  const Data& data_;
  const FitOptions& options_;
  InferenceOptions inference_;
  FitState state_;
  Matrix codes_;  // factored: <s.z> after the last sweep
  Observer* observer_;
  StopRequest stop_;
  Clock::time_point row_start_;
};

/// A given start in the noise and slab types that the options ask for.
Model adapted(Model start, const FitOptions& options) {
  start.validate();
  if (start.latents() != options.latents)
    throw UsageError("latents is " + std::to_string(options.latents) + ", but the model to start from has " +
                     std::to_string(start.latents()));
  if (start.noise.type() != options.noise)
    start.noise = Noise::from_covariance(options.noise, start.noise.covariance());
  if (options.inference.method != Method::factored) start.W_variance.resize(0, 0);
  if (start.slab.type() != options.slab)
    start.slab =
        options.slab == SlabType::full ? Slab::full(start.slab.covariance()) : Slab::diagonal(start.slab.variances());
  return start;
}

/// A random start knows nothing of the scale of the data. EM finds it through W; where W has a prior, the amplitudes
/// must bring it.
void scale_slab(Model& model, const DataSummary& summary) {
  const double variance = summary.covariance.mean();
  model.slab = Slab::diagonal(variance * model.slab.variances());
  model.mu *= std::sqrt(variance);
}

}  // namespace

void FitOptions::validate() const {
  inference.validate(latents);
  if (iterations < 0) throw UsageError("iterations is " + std::to_string(iterations) + "; it must not be negative");
  if (!(tolerance >= 0) || !std::isfinite(tolerance))
    throw UsageError("tolerance is " + std::to_string(tolerance) + "; it must be zero or a small positive number");
  if (inference.method != Method::factored) return;
  if (noise == NoiseType::full)
    throw UsageError("noise is full, but the factored method is for scalar or diagonal noise");
  if (slab == SlabType::full) throw UsageError("slab is full, but the factored method is for a diagonal slab");
  if (noise_update == Update::paper)
    throw UsageError(
        "noise_update is paper, which is for the truncated and exact methods; the factored one has its own");
  if (!(factored.length_scale >= 0) || !std::isfinite(factored.length_scale))
    throw UsageError("length_scale is " + std::to_string(factored.length_scale) +
                     "; it must be positive, or zero to have it learned");
}

FitResult fit(const Data& data, const FitOptions& options, Observer* observer, std::optional<Model> start) {
  options.validate();
  const DataSummary summary = summarize(data, options.noise == NoiseType::full);
  FitState state;
  const bool start_given = start.has_value();
  if (start) {
    state.model = adapted(std::move(*start), options);
  } else {
    Random random(options.seed);
    state.model = initial_model(data, summary, options.latents, options.noise, options.slab, options.init, random);
  }
  if (options.inference.method == Method::factored) {
    if (!start_given && options.init == Init::random) scale_slab(state.model, summary);
    if (options.factored.basis_prior == BasisPrior::gp) resolved_shape(options.factored.shape, data.cols());
    start_factored(options.factored, state.model, state.factored);
  }
  return Learner(data, options, std::move(state), observer).run();
}

FitResult resume(const Data& data, const FitOptions& options, FitState state, Observer* observer) {
  options.validate();
  summarize(data);
  return Learner(data, options, std::move(state), observer).run();
}

std::string_view to_string(Update update) { return update == Update::exact ? "exact" : "paper"; }

std::string_view to_string(BasisPrior prior) {
  switch (prior) {
    case BasisPrior::none:
      return "none";
    case BasisPrior::identity:
      return "identity";
    case BasisPrior::gp:
      return "gp";
  }
  return "";
}

std::string_view to_string(SweepOrder order) { return order == SweepOrder::random ? "random" : "fixed"; }

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::iterations:
      return "iterations";
    case StopReason::converged:
      return "converged";
    case StopReason::interrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace gsc
