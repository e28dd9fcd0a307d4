#include "cuda/auto_engine.h"

#include <array>

#include "inference/prepared_model.h"

namespace gsc::cuda {

Engine& AutoEngine::engine(const Model& model) {
  if (engine_) return *engine_;
  if (worth_it(model)) try {
      engine_ = make_gpu_(options_);
      // One data point brings the data there and makes work space: a GPU whose memory others have shows that here.
      constexpr std::array<Index, 1> kFirst = {0};
      if (engine_) engine_->e_step(model, {.rows = kFirst});
    } catch (const UsageError&) {
      throw;  // the CPU would say the same
    } catch (const Interrupted&) {
      throw;
    } catch (const Error&) {
      engine_.reset();
    }
  if (!engine_) {
    InferenceOptions options = options_;
    options.device = "cpu";
    engine_ = make_engine(data_, options);
  }
  return *engine_;
}

/// Waking a GPU takes a quarter of a second (docs/gpu.md), in which two cores do so many states.
bool AutoEngine::worth_it(const Model& model) const {
  constexpr double kStates = 1e8;
  if (!DeviceEngine::has(model, options_)) return false;
  const InferenceOptions all = options_.resolved(model.latents());
  const Index candidates = options_.method == Method::exact ? model.latents() : all.candidates;
  const Index max_active = options_.method == Method::exact ? model.latents() : all.max_active;
  return static_cast<double>(data_.rows()) * state_count(candidates, max_active) >= kStates;
}

}  // namespace gsc::cuda
