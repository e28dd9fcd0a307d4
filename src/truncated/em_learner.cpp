#include "truncated/em_learner.h"

#include <cmath>

#include "learning/known_noise.h"
#include "math/number_text.h"
#include "truncated/host_learning.h"

namespace gsc {
namespace {

/// Free energies closer than this are equal up to rounding.
double rounding_of(double free_energy) { return 1e-11 * std::abs(free_energy); }

InferenceOptions inference_of(const FitOptions& options) {
  InferenceOptions inference = options.inference;
  inference.mean_products = options.noise_update == Update::paper;
  if (options.sharing.partition != Partition::uniform) inference.device = {};  // a device has a copy of the data
  return inference;
}

}  // namespace

void EmLearner::check(const FitOptions& options) {
  if (options.sigma > 0 && options.noise != NoiseType::scalar)
    throw UsageError("sigma is " + number_text(options.sigma) + ", but noise is " +
                     std::string(to_string(options.noise)) + "; a known noise is of type scalar");
  if (options.intercept == Intercept::learned && options.noise_update == Update::paper)
    throw UsageError(
        "intercept is learned, but noise_update is paper, whose formula has none; let the intercept be mean or none");
  if (options.inference.missing == Missing::nan && options.noise == NoiseType::full)
    throw UsageError(
        "missing is nan, but noise is full, and what is missing then has no noise of its own to leave out; "
        "set noise to scalar or diagonal");
  if (options.inference.missing == Missing::nan && options.noise_update == Update::paper)
    throw UsageError("missing is nan, but noise_update is paper, whose formula has no missing values; set it to exact");
  const Device& device = options.inference.device;
  if (options.sharing.partition != Partition::uniform && device.kind != Device::Kind::cpu &&
      device.kind != Device::Kind::automatic)
    throw UsageError("device is '" + device.name + "', but partition is " +
                     std::string(to_string(options.sharing.partition)) +
                     ", which moves data points about; set partition to static, or device to cpu");
  if (options.batch > 0 && options.sharing.partition != Partition::uniform)
    throw UsageError("batch is " + std::to_string(options.batch) + ", but partition is " +
                     std::string(to_string(options.sharing.partition)) +
                     ", which sorts all data points before a pass; use one of the two");
}

EmLearner::EmLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop)
    : share_(share),
      options_(options),
      stop_(std::move(stop)),
      engine_(make_engine(share.rows(), inference_of(options))),
      fast_slab_(beginning.model.slab.type() == SlabType::full && options.slab_update == Update::exact),
      slab_acceleration_(beginning.saved ? beginning.saved->number("slab_acceleration", 1) : 1),
      gap_acceleration_(beginning.saved ? beginning.saved->number("gap_acceleration", 1) : 1) {
  engine_->expect(options.iterations + 1);
  if (!beginning.saved) hold_noise(beginning.model, options_, 0);
  em_ = learning_of(share_, *engine_, beginning.model, options_);
  if (options.batch == 0) return;
  batches_.emplace(share_, *em_, options_);
  if (!beginning.saved) return;
  batches_->load(*beginning.saved, beginning.model);
  settled_ = beginning.saved->number("settled", 0) != 0;
  full_rows_ = static_cast<int>(beginning.saved->number("polishing", 0));
  last_estimate_ = beginning.saved->number("last_estimate", 0);
}

/// Passes in batches, until the last iterations or until they bring nothing.
bool EmLearner::stepwise(int row) const {
  return batches_ && !settled_ && full_rows_ == 0 && row <= options_.iterations - options_.polish;
}

Evaluation EmLearner::begin(int row) {
  // A row of batches is gone on from without sums of all data: the next judges, as it would have without the stop.
  if (batches_ && row > 0 && full_rows_ == 0) return {};  // nobody asks what is known from the file
  return stepwise(row) ? batches_->glance(stop_) : judge();
}

Evaluation EmLearner::judge() {
  last_ = em_->e_step({.stop = stop_});
  return evaluation(*last_);
}

Evaluation EmLearner::iterate(int row) {
  if (stepwise(row)) {
    const Evaluation judged = batches_->pass(row, stop_);
    const double change = std::abs(judged.free_energy - last_estimate_);
    settled_ = last_estimate_ != 0 && change < options_.tolerance * std::abs(judged.free_energy);
    last_estimate_ = judged.free_energy;
    return judged;
  }
  const Evaluation judged = last_ ? full_step(row) : judge();  // at first, what the batches have learned
  if (batches_) ++full_rows_;
  return judged;
}

/// An M-step, judged.
ResidentRow EmLearner::stepped(const ResidentStep& step) {
  em_->m_step(step);
  try {
    return em_->e_step({.stop = stop_});
  } catch (const Interrupted&) {
    em_->take_back();
    throw;
  }
}

/// Steps that are longer than EM's are taken back, and made shorter, where they lower the free energy.
Evaluation EmLearner::full_step(int row) {
  ResidentStep step{.known_variance = held_variance(options_, row),
                    .slab_acceleration = slab_acceleration_,
                    .gap_acceleration = gap_acceleration_};
  const auto is_long = [&] {
    return (fast_slab_ && step.slab_acceleration > 0) || (last_->long_steps && step.gap_acceleration > 0);
  };
  const auto slower = [](double acceleration) { return acceleration > 0.2 ? acceleration / 2 : 0; };
  const double enough = last_->free_energy - rounding_of(last_->free_energy);
  Rescues rescues;  // of steps that were taken back
  ResidentRow judged = stepped(step);
  while (is_long() && !(judged.free_energy >= enough)) {  // NaN is no progress either
    judged.rescues.clamped_pivots = 0;
    rescues += judged.rescues;
    em_->take_back();
    if (fast_slab_ && step.slab_acceleration > 0) {
      step.slab_acceleration = slower(step.slab_acceleration);
      ++rescues.slab_fallbacks;
    }
    if (last_->long_steps && step.gap_acceleration > 0) {
      step.gap_acceleration = slower(step.gap_acceleration);
      ++rescues.gap_fallbacks;
    }
    judged = stepped(step);
  }
  slab_acceleration_ = step.slab_acceleration;
  gap_acceleration_ = step.gap_acceleration;
  judged.rescues += rescues;
  last_ = std::move(judged);
  return evaluation(*last_);
}

bool EmLearner::converged(const std::vector<IterationReport>& history, double tolerance) const {
  if (!batches_) return Learner::converged(history, tolerance);
  if (full_rows_ < options_.polish) return false;
  constexpr int kJudging = 1;  // so many full rows contain no M-step that could show that nothing changes
  return (settled_ && options_.polish <= kJudging) || Learner::converged(history, tolerance);
}

std::string EmLearner::note() const {
  if (!em_->on_host() || !engine_->on_device()) return {};
  const std::string why = !share_.team().alone() ? "their sums are those of several processes"
                                                 : "noise_update is " + std::string(to_string(options_.noise_update));
  return "on device '" + options_.inference.device.name + "' E-steps are computed, M-steps on the cpu, as " + why;
}

void EmLearner::save(MethodState& state) const {
  state.numbers["slab_acceleration"] = slab_acceleration_;
  if (options_.inference.missing == Missing::nan) state.numbers["gap_acceleration"] = gap_acceleration_;
  if (!batches_) return;
  batches_->save(state);
  state.numbers["settled"] = settled_ ? 1 : 0;
  state.numbers["polishing"] = full_rows_;
  state.numbers["last_estimate"] = last_estimate_;
}

}  // namespace gsc
