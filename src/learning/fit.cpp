// The loop of learning, whatever the method. Row t of the history describes the parameters after t M-steps; a state can
// be taken up again at any row because the E-step that gave the row is repeated, bit for bit, from the row's
// parameters.

#include <gsc/fit.h>
#include <gsc/stopwatch.h>

#include <algorithm>
#include <cmath>

#include "learning/data_notes.h"
#include "learning/fit_option_list.h"
#include "learning/learner.h"
#include "learning/noise_estimate.h"
#include "learning/pack_fit.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

/// The history of a learner, row by row.
class Loop {
 public:
  /// `deviation`: of the data, where it is known (deviation_of()).
  Loop(Share& share, const FitOptions& options, FitState state, Watcher* watcher, std::optional<double> deviation = {})
      : share_(share), options_(options), state_(std::move(state)), watcher_(watcher), deviation_(deviation) {}

  FitResult run(Learner& learner) {
    const Stopwatch watch;
    row_watch_ = {};
    StopReason reason = StopReason::iterations;
    if (const std::string note = learner.note(); watcher_ != nullptr && !note.empty()) watcher_->on_note(note);
    try {
      const Evaluation judged = learner.begin(state_.history.empty() ? 0 : state_.history.back().iteration);
      if (state_.history.empty()) add_row(learner, judged);
      row_watch_ = {};
      while (state_.history.back().iteration < options_.iterations && !converged(learner))
        add_row(learner, learner.iterate(state_.history.back().iteration + 1));
      if (converged(learner)) reason = StopReason::converged;
    } catch (const Interrupted&) {
      reason = StopReason::interrupted;
    }
    state_.model = learner.model();
    learner.save(state_.method);
    if (reason != StopReason::interrupted) require_likely_noise();
    return {std::move(state_), reason, watch.seconds(), share_.report()};
  }

 private:
  void add_row(const Learner& learner, const Evaluation& judged) {
    if (watcher_ != nullptr || !judged.noise_variance) state_.model = learner.model();
    IterationReport row;
    row.iteration = state_.history.empty() ? 0 : state_.history.back().iteration + 1;
    row.free_energy = judged.free_energy;
    row.noise_std = std::sqrt(judged.noise_variance ? *judged.noise_variance : state_.model.noise.mean_variance());
    row.mean_active = judged.mean_active;
    row.latents_in_use = judged.latents_in_use;
    row.seconds = row_watch_.seconds();
    row.estimated = judged.estimated;
    row.dip = !state_.history.empty() && !row.estimated && !state_.history.back().estimated &&
              better(method(), state_.history.back().free_energy, row.free_energy) &&
              std::abs(row.free_energy - state_.history.back().free_energy) > 1e-9 * std::abs(row.free_energy);
    row.rescues = judged.rescues.total();
    row_watch_ = {};
    state_.rescues += judged.rescues;
    state_.history.push_back(row);
    if (!std::isfinite(row.free_energy) || !std::isfinite(row.noise_std))
      throw Error("the " +
                  (std::isfinite(row.free_energy)
                       ? "noise is " + number_text(row.noise_std)
                       : std::string(objective_text(method())) + " is " + number_text(row.free_energy)) +
                  " after iteration " + std::to_string(row.iteration) +
                  ": the numbers have left the range of the arithmetic; rescale the data (or use double precision)");
    if (root_needs_method_state()) learner.save(state_.method);
    if (watcher_ != nullptr) watcher_->on_iteration(state_);
  }

  /// No noise that is worth learning explains more than the data's own variance: then learning has run away.
  void require_likely_noise() const {
    constexpr double kRanAway = 1e3;
    const double noise = state_.history.back().noise_std;
    if (!deviation_ || options_.sigma > 0 || state_.history.size() < 2 || noise <= kRanAway * *deviation_) return;
    throw Error("the noise has grown to " + number_text(noise, 4) + ", but the data deviates by only " +
                number_text(*deviation_, 4) + ": learning has run away, and nothing of it is of use; " +
                (options_.batch > 0 ? "use larger batches or none" : "begin from another start or seed"));
  }

  Method method() const { return options_.inference.method; }
  bool converged(const Learner& learner) const { return learner.converged(state_.history, options_.tolerance); }

  bool root_needs_method_state() const {
    double needed = share_.team().root() && watcher_ != nullptr && watcher_->needs_method_state(state_) ? 1 : 0;
    share_.team().sum(&needed, 1);
    return needed > 0;
  }

  Share& share_;
  const FitOptions& options_;
  FitState state_;
  Watcher* watcher_;
  std::optional<double> deviation_;
  Stopwatch row_watch_;
};

StopRequest stop_of(Watcher* watcher) {
  if (watcher == nullptr) return {};
  return [watcher] { return watcher->stop_requested(); };
}

/// Of a value from what a model without latents says of it.
double deviation_of(const DataSummary& summary, const FitOptions& options) {
  const Matrix& covariance = summary.covariance;
  const double variance = covariance.cols() > 1 ? covariance.diagonal().mean() : covariance.mean();
  return std::sqrt(variance + (options.intercept == Intercept::none ? summary.mean.cwiseAbs2().mean() : 0));
}

/// The noise level of methods that must be told it: known, else that of the model to start from, else an estimate.
Noise told_noise(const Data& data, const DataSummary& summary, const FitOptions& options,
                 const std::optional<Model>& start, Watcher* watcher) {
  double level = options.sigma;
  std::string source;
  if (level == 0 && start) {
    level = std::sqrt(start->noise.mean_variance());
    source = "that of the model to start from";
  } else if (level == 0) {
    level = noise_of_table(data, summary);
    source = "estimated from the smallest eigenvalues of the data's covariance";
  }
  if (watcher != nullptr && !source.empty())
    watcher->on_note("the " + std::string(to_string(options.inference.method)) +
                     " method must be told the noise level (sigma); taken is " + number_text(level, 4) + ", " + source);
  return Noise::scalar(level * level, data.cols());
}

/// A given start in the noise and slab types that the options ask for, with or without intercept.
Model adapted(Model start, const FitOptions& options, const DataSummary& summary) {
  start.validate();
  if (start.latents() != options.latents)
    throw UsageError("latents is " + std::to_string(options.latents) + ", but the model to start from has " +
                     std::to_string(start.latents()));
  if (start.noise.type() != options.noise)
    start.noise = Noise::from_covariance(options.noise, start.noise.covariance());
  if (!traits(options.inference.method).basis_variance) start.W_variance.resize(0, 0);
  if (options.intercept == Intercept::none)
    start.intercept.resize(0);
  else if (options.intercept == Intercept::mean)
    start.intercept = summary.mean;
  else if (start.intercept.size() == 0)  // what latents explain of the level is not explained twice
    start.intercept = summary.mean - start.W * start.pi.cwiseProduct(start.mu);
  if (start.slab.type() != options.slab)
    start.slab =
        options.slab == SlabType::full ? Slab::full(start.slab.covariance()) : Slab::diagonal(start.slab.variances());
  return start;
}

/// Drawn by the root, who can read all rows.
Model drawn_start(const Data& data, const DataSummary& summary, const FitOptions& options) {
  Team& team = *options.sharing.team;
  Packer packer;
  all_or_none(team, [&] {
    if (!team.root()) return;
    Random random(options.seed);
    packer << initial_model(data, summary, options.latents, options.noise, options.slab, options.init, random,
                            options.intercept);
  });
  const Bytes bytes = team.broadcast(packer.take(), 0);
  return Unpacker(bytes).next<Model>();
}

}  // namespace

void FitOptions::validate() const {
  inference.validate(latents);
  for_each_option(*this, [&](const OptionInfo& option, const auto& value) {
    if (option.read_by(inference.method)) check_range(option, value);
  });
  refuse_options_of_others(*this);
  if (sharing.partition != Partition::uniform && !traits(inference.method).has_candidates)
    throw UsageError("partition is " + std::string(to_string(sharing.partition)) +
                     ", which clusters data points by their candidates; the " +
                     std::string(to_string(inference.method)) + " method has none; choose the truncated method");
  check_method(*this);
}

FitResult fit(const Data& data, const FitOptions& options, Watcher* watcher, std::optional<Model> start) {
  const NumericScope scope;
  options.validate();
  Share share(data, options.sharing);
  const DataSummary summary =
      share.summarize(options.noise == NoiseType::full, options.inference.missing == Missing::nan);
  if (watcher != nullptr) note_data(summary, options, *watcher);
  std::optional<Noise> told;
  if (traits(options.inference.method).needs_noise_level)
    told = told_noise(data, summary, options, start, codes_by_lambda(options.inference) ? nullptr : watcher);
  Beginning beginning;
  if (!start && options.init == Init::random) beginning.data_variance = summary.covariance.mean();
  beginning.model = start ? adapted(std::move(*start), options, summary) : drawn_start(data, summary, options);
  if (told) beginning.model.noise = *told;
  const auto learner = make_learner(share, options, std::move(beginning), stop_of(watcher));
  return Loop(share, options, {}, watcher, deviation_of(summary, options)).run(*learner);
}

FitResult resume(const Data& data, const FitOptions& options, FitState state, Watcher* watcher) {
  const NumericScope scope;
  options.validate();
  Share share(data, options.sharing);
  share.check();
  const auto learner = make_learner(share, options, {state.model, std::move(state.method), {}}, stop_of(watcher));
  state.method = {};
  return Loop(share, options, std::move(state), watcher).run(*learner);
}

double MethodState::number(const std::string& name, double otherwise) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? otherwise : found->second;
}

Matrix MethodState::array(const std::string& name) const {
  const auto found = arrays.find(name);
  return found == arrays.end() ? Matrix() : found->second;
}

Matrix MethodState::column(const std::string& name) const {
  const auto found = columns.find(name);
  return found == columns.end() ? Matrix() : found->second;
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

std::string_view to_string(UsagePrior prior) { return prior == UsagePrior::program ? "program" : "paper"; }

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
