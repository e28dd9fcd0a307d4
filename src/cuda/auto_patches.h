#pragma once
// Patches of pictures on a GPU where that works; where it fails, says so once, and the processor goes on.

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cuda/queue/device_error.h"
#include "inference/patch_device.h"

namespace gsc::cuda {

class AutoPatches final : public PatchDevice {
 public:
  /// Null where there is no GPU that can be used.
  using MakeGpu = std::function<std::unique_ptr<PatchDevice>()>;
  /// Is told, in words, that the GPU has failed.
  using Say = std::function<void(const std::string& text)>;
  /// Null if there is none, or it fails at once.
  static std::unique_ptr<PatchDevice> make(const MakeGpu& make_gpu, const Say& say);

  AutoPatches(std::unique_ptr<PatchDevice> gpu, Say say) : gpu_(std::move(gpu)), say_(std::move(say)) {}

  bool has(std::span<const GroupShape> sizes) const override { return !failed_ && gpu_->has(sizes); }
  bool filter_groups(const PlanesView& noisy, const PlanesView& pilot, float largest, std::span<const GroupShape> sizes,
                     float* mean, float* variance, const std::function<bool(double)>& stop_at) override;
  std::unique_ptr<PatchSearch> search(const PlanesView& pilot, Index patch, Index reach, Index most) override;

 private:
  void fall_back(const DeviceError& why);

  std::unique_ptr<PatchDevice> gpu_;  // kept where it has failed: searches that it made may still be there
  Say say_;
  bool failed_ = false;
};

}  // namespace gsc::cuda
