#include "cuda/auto_patches.h"

namespace gsc::cuda {

std::unique_ptr<PatchDevice> AutoPatches::make(const MakeGpu& make_gpu, const Say& say) {
  try {
    if (std::unique_ptr<PatchDevice> gpu = make_gpu()) return std::make_unique<AutoPatches>(std::move(gpu), say);
  } catch (const DeviceError& error) {
    if (say) say(goes_on(error, "auto"));
  }
  return nullptr;
}

void AutoPatches::fall_back(const DeviceError& why) {
  failed_ = true;
  if (say_) say_(goes_on(why, "auto"));
}

bool AutoPatches::filter_groups(const PlanesView& noisy, const PlanesView& pilot, float largest,
                                std::span<const GroupShape> sizes, float* mean, float* variance,
                                const std::function<bool(double)>& stop_at) {
  if (!failed_) try {
      return gpu_->filter_groups(noisy, pilot, largest, sizes, mean, variance, stop_at);
    } catch (const DeviceError& error) {
      fall_back(error);
    }
  return false;
}

/// A search that fails later fails in the engine that asks it, which then goes on with the processor.
std::unique_ptr<PatchSearch> AutoPatches::search(const PlanesView& pilot, Index patch, Index reach, Index most) {
  if (!failed_) try {
      return gpu_->search(pilot, patch, reach, most);
    } catch (const DeviceError& error) {
      fall_back(error);
    }
  return nullptr;
}

}  // namespace gsc::cuda
