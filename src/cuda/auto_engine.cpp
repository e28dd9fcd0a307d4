#include "cuda/auto_engine.h"

#include "cuda/queue/device_error.h"
#include "inference/limits.h"

namespace gsc::cuda {

Engine& AutoEngine::chosen(const Model* model) {
  if (engine_) return *engine_;
  if (model == nullptr || worth_it(*model)) engine_ = woken(model);
  if (engine_) return *engine_;
  InferenceOptions on_cpu = options_;
  on_cpu.device = {};
  engine_ = make_engine(data_, on_cpu);
  return *engine_;
}

/// Null where there is no GPU, or where it does not start or has no room for the model, which is said.
std::unique_ptr<Engine> AutoEngine::woken(const Model* model) const {
  try {
    std::unique_ptr<DeviceEngine> gpu = make_gpu_(options_);
    if (gpu && model != nullptr) gpu->check(*model);
    return gpu;
  } catch (const DeviceError& error) {
    if (say_) say_(error.why + "; device is '" + options_.device.name + "', so the processor goes on");
  }
  return nullptr;
}

bool AutoEngine::worth_it(const Model& model) const {
  if (!DeviceEngine::has(model, options_)) return false;
  Work work;
  work.points = static_cast<double>(data_.rows());
  work.dimensions = static_cast<double>(data_.cols());
  work.latents = static_cast<double>(model.latents());
  work.states = state_space(options_, model.latents()).states();
  work.passes = passes_;
  work.threads = thread_count(options_.threads);
  work.conditional = traits(options_.method).has_candidates && options_.selection == Selection::conditional;
  work.single = options_.precision == Precision::single_precision;
  return worth_(work);
}

}  // namespace gsc::cuda
