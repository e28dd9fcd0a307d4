#include "truncated/em_learner.h"

#include <cmath>

#include "learning/known_noise.h"
#include "math/number_text.h"
#include "truncated/gap_m_step.h"

namespace gsc {
namespace {

/// Free energies closer than this are equal up to rounding.
double rounding_of(double free_energy) { return 1e-11 * std::abs(free_energy); }

InferenceOptions inference_of(const FitOptions& options) {
  InferenceOptions inference = options.inference;
  inference.mean_products = options.noise_update == Update::paper;
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
  if (options.batch > 0 && options.sharing.partition != Partition::uniform)
    throw UsageError("batch is " + std::to_string(options.batch) + ", but partition is " +
                     std::string(to_string(options.sharing.partition)) +
                     ", which sorts all data points before a pass; use one of the two");
}

EmLearner::EmLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop)
    : share_(share),
      options_(options),
      model_(std::move(beginning.model)),
      stop_(std::move(stop)),
      engine_(make_engine(share.rows(), inference_of(options))),
      slab_acceleration_(beginning.saved ? beginning.saved->number("slab_acceleration", 1) : 1),
      gap_acceleration_(beginning.saved ? beginning.saved->number("gap_acceleration", 1) : 1) {
  engine_->expect(options.iterations + 1);
  if (!beginning.saved) hold_noise(model_, options_, 0);
  resident_ = resident_of(*engine_, share_, model_, options_);
  if (options.batch == 0) return;
  batches_.emplace(share_, *engine_, resident_, options_);
  if (!beginning.saved) return;
  batches_->load(*beginning.saved, model_);
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
  return stepwise(row) ? batches_->glance(model_, stop_) : judge();
}

const Model& EmLearner::model() const {
  if (model_is_there_) model_ = resident_->model();
  model_is_there_ = false;
  return model_;
}

Evaluation EmLearner::judge() {
  has_sums_ = true;
  if (resident_ != nullptr) {
    resident_->start(model());
    return evaluation(resident_->e_step({.stop = stop_}));
  }
  statistics_ = share_.e_step(*engine_, model_, stop_);
  Rescues rescues;
  rescues.clamped_pivots = statistics_->clamped_pivots;
  return evaluation(*statistics_, rescues);
}

Evaluation EmLearner::iterate(int row) {
  if (stepwise(row)) {
    const Evaluation judged = batches_->pass(model_, row, stop_);
    const double change = std::abs(judged.free_energy - last_estimate_);
    settled_ = last_estimate_ != 0 && change < options_.tolerance * std::abs(judged.free_energy);
    last_estimate_ = judged.free_energy;
    return judged;
  }
  const Evaluation judged =  // at first, what the batches have learned
      !has_sums_ ? judge() : (resident_ != nullptr ? resident_step(row) : full_step(row));
  if (batches_) ++full_rows_;
  return judged;
}

Evaluation EmLearner::resident_step(int row) {
  resident_->m_step({.known_variance = held_variance(options_, row)});
  try {
    const ResidentRow judged = resident_->e_step({.stop = stop_});
    model_is_there_ = true;
    return evaluation(judged);
  } catch (const Interrupted&) {
    resident_->take_back();
    throw;
  }
}

Evaluation EmLearner::full_step(int row) {
  const double before = statistics_->free_energy;
  MStepOptions step{.noise_update = options_.noise_update,
                    .slab_update = options_.slab_update,
                    .learn_intercept = options_.intercept == Intercept::learned,
                    .slab_acceleration = slab_acceleration_,
                    .gap_acceleration = gap_acceleration_,
                    .threads = thread_count(options_.inference.threads)};
  Rescues rescues;
  const auto step_from = [&] {
    Model stepped = m_step(model_, *statistics_, step, rescues);
    hold_noise(stepped, options_, row);
    return stepped;
  };
  Model next = step_from();
  Statistics judged = share_.e_step(*engine_, next, stop_);
  const bool fast_slab = next.slab.type() == SlabType::full && options_.slab_update == Update::exact;
  const bool long_steps = statistics_->missing_WZ.size() > 0 && has_gaps(*statistics_);
  const auto slower = [](double acceleration) { return acceleration > 0.2 ? acceleration / 2 : 0; };
  // NaN is no progress either.
  while (((fast_slab && step.slab_acceleration > 0) || (long_steps && step.gap_acceleration > 0)) &&
         !(judged.free_energy >= before - rounding_of(before))) {
    if (fast_slab && step.slab_acceleration > 0) {
      step.slab_acceleration = slower(step.slab_acceleration);
      ++rescues.slab_fallbacks;
    }
    if (long_steps && step.gap_acceleration > 0) {
      step.gap_acceleration = slower(step.gap_acceleration);
      ++rescues.gap_fallbacks;
    }
    next = step_from();
    judged = share_.e_step(*engine_, next, stop_);
  }
  slab_acceleration_ = step.slab_acceleration;
  gap_acceleration_ = step.gap_acceleration;
  model_ = std::move(next);
  statistics_ = std::move(judged);
  rescues.clamped_pivots = statistics_->clamped_pivots;
  return evaluation(*statistics_, rescues);
}

bool EmLearner::converged(const std::vector<IterationReport>& history, double tolerance) const {
  if (!batches_) return Learner::converged(history, tolerance);
  if (full_rows_ < options_.polish) return false;
  constexpr int kJudging = 1;  // so many full rows contain no M-step that could show that nothing changes
  return (settled_ && options_.polish <= kJudging) || Learner::converged(history, tolerance);
}

std::string EmLearner::note() const {
  if (resident_ != nullptr || !engine_->on_device()) return {};
  const std::string why = !share_.team().alone() ? "their sums are those of several processes"
                                                 : "noise_update is " + std::string(to_string(options_.noise_update));
  return "on device '" + options_.inference.device + "' E-steps are computed, M-steps on the cpu, as " + why;
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
