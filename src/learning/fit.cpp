// The EM loop. Row t of the history describes the parameters after t M-steps; a state can be taken up again at any
// row because the E-step that gave the row is repeated, bit for bit, from the row's parameters.

#include <gsc/fit.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "distributed/pack_fit.h"
#include "distributed/share.h"
#include "distributed/together.h"
#include "learning/basis_prior.h"
#include "learning/factored_m_step.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Free energies closer than this are equal up to rounding.
double rounding_of(double free_energy) { return 1e-11 * std::abs(free_energy); }

class Learner {
 public:
  Learner(Share& share, const FitOptions& options, FitState state, Observer* observer)
      : share_(share), options_(options), inference_(options.inference), state_(std::move(state)), observer_(observer) {
    if (factored()) state_.factored.codes = share_.own_columns(state_.factored.codes);
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
    if (factored()) state_.factored.codes = share_.all_columns(state_.factored.codes);
    return {std::move(state_), reason, seconds_since(start), share_.report()};
  }

 private:
  bool factored() const { return inference_.method == Method::factored; }

  Statistics expectation(const Model& model) {
    if (!factored()) return share_.e_step(model, inference_, stop_);
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
    return share_.factored_step(model, inference_, order, state_.factored.codes, codes_);
  }

  Statistics iterate_factored(const Statistics& statistics) {
    together(share_.team(), [&] {
      if (stop_ && stop_()) throw Interrupted("interrupted");
    });
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
      throw Error("the free energy is " + number_text(row.free_energy) + " after iteration " +
                  std::to_string(row.iteration) +
                  ": the numbers have left the range of the arithmetic; rescale the data (or use double precision)");
    show_observer();
  }

  void show_observer() {
    const bool divided = factored() && !share_.team().alone();
    if (!divided || !root_needs_codes()) {
      if (observer_ != nullptr) observer_->on_iteration(state_);
      return;
    }
    Matrix own = share_.all_columns(state_.factored.codes);
    std::swap(own, state_.factored.codes);
    if (observer_ != nullptr) observer_->on_iteration(state_);
    std::swap(own, state_.factored.codes);
  }

  bool root_needs_codes() {
    double needed = share_.team().root() && observer_ != nullptr && observer_->needs_codes(state_) ? 1 : 0;
    share_.team().sum(&needed, 1);
    return needed > 0;
  }

  bool converged() const {
    const auto& history = state_.history;
    if (options_.tolerance <= 0 || history.size() < 2) return false;
    const double last = history.back().free_energy, change = std::abs(last - history[history.size() - 2].free_energy);
    return change < options_.tolerance * std::abs(last);
  }

  Share& share_;
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

/// Drawn by the root, who can read all rows.
Model drawn_start(const Data& data, const DataSummary& summary, const FitOptions& options) {
  Team& team = *options.sharing.team;
  Packer packer;
  together(team, [&] {
    if (!team.root()) return;
    Random random(options.seed);
    packer << initial_model(data, summary, options.latents, options.noise, options.slab, options.init, random);
  });
  const Bytes bytes = team.broadcast(packer.take(), 0);
  return Unpacker(bytes).next<Model>();
}

}  // namespace

void FitOptions::validate() const {
  inference.validate(latents);
  if (iterations < 0) throw UsageError("iterations is " + std::to_string(iterations) + "; it must not be negative");
  if (!(tolerance >= 0) || !std::isfinite(tolerance))
    throw UsageError("tolerance is " + number_text(tolerance) + "; it must be zero or a small positive number");
  if (sharing.partition != Partition::uniform && inference.method != Method::truncated)
    throw UsageError("partition is " + std::string(to_string(sharing.partition)) +
                     ", which clusters data points by their candidates; the " +
                     std::string(to_string(inference.method)) + " method has none; choose the truncated method");
  if (!(sharing.alpha >= 0 && sharing.alpha <= 100))
    throw UsageError("alpha is " + number_text(sharing.alpha) + "; it must be a percentage, 0 to 100");
  if (inference.method != Method::factored) return;
  if (noise == NoiseType::full)
    throw UsageError("noise is full, but the factored method is for scalar or diagonal noise");
  if (slab == SlabType::full) throw UsageError("slab is full, but the factored method is for a diagonal slab");
  if (noise_update == Update::paper)
    throw UsageError(
        "noise_update is paper, which is for the truncated and exact methods; the factored one has its own");
  if (!(factored.length_scale >= 0) || !std::isfinite(factored.length_scale))
    throw UsageError("length_scale is " + number_text(factored.length_scale) +
                     "; it must be positive, or zero to have it learned");
}

FitResult fit(const Data& data, const FitOptions& options, Observer* observer, std::optional<Model> start) {
  const NumericScope scope;
  options.validate();
  Share share(data, options.sharing);
  const DataSummary summary = share.summarize(options.noise == NoiseType::full);
  FitState state;
  const bool start_given = start.has_value();
  state.model = start_given ? adapted(std::move(*start), options) : drawn_start(data, summary, options);
  if (options.inference.method == Method::factored) {
    if (!start_given && options.init == Init::random) scale_slab(state.model, summary);
    if (options.factored.basis_prior == BasisPrior::gp) resolved_shape(options.factored.shape, data.cols());
    start_factored(options.factored, state.model, state.factored);
  }
  return Learner(share, options, std::move(state), observer).run();
}

FitResult resume(const Data& data, const FitOptions& options, FitState state, Observer* observer) {
  const NumericScope scope;
  options.validate();
  Share share(data, options.sharing);
  share.summarize(false);
  return Learner(share, options, std::move(state), observer).run();
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
