#include "learning/em_learner.h"

#include <cmath>

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

EmLearner::EmLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop)
    : share_(share),
      options_(options),
      model_(std::move(beginning.model)),
      stop_(std::move(stop)),
      engine_(make_engine(share.rows(), inference_of(options))),
      slab_acceleration_(beginning.saved ? beginning.saved->number("slab_acceleration", 1) : 1) {}

Evaluation EmLearner::begin(int) {
  statistics_ = share_.e_step(*engine_, model_, stop_);
  Rescues rescues;
  rescues.clamped_pivots = statistics_.clamped_pivots;
  return evaluation(statistics_, rescues);
}

Evaluation EmLearner::iterate(int) {
  const double before = statistics_.free_energy;
  MStepOptions step{options_.noise_update, options_.slab_update, slab_acceleration_};
  Rescues rescues;
  Model next = m_step(model_, statistics_, step, rescues);
  Statistics judged = share_.e_step(*engine_, next, stop_);
  const bool accelerated = next.slab.type() == SlabType::full && options_.slab_update == Update::exact;
  while (accelerated && step.slab_acceleration > 0 && judged.free_energy < before - rounding_of(before)) {
    step.slab_acceleration = step.slab_acceleration > 0.2 ? step.slab_acceleration / 2 : 0;
    ++rescues.slab_fallbacks;
    next = m_step(model_, statistics_, step, rescues);
    judged = share_.e_step(*engine_, next, stop_);
  }
  slab_acceleration_ = step.slab_acceleration;
  model_ = std::move(next);
  statistics_ = std::move(judged);
  rescues.clamped_pivots = statistics_.clamped_pivots;
  return evaluation(statistics_, rescues);
}

void EmLearner::save(MethodState& state) const { state.numbers["slab_acceleration"] = slab_acceleration_; }

}  // namespace gsc
