#pragma once
// Patches of pictures on a GPU: a picture that is too large for its memory is done in strips.

#include "cuda/group_pass.h"
#include "inference/patch_device.h"

namespace gsc::cuda {

/// For tests: small pieces.
struct PatchLimits {
  long references = 1L << 16U;  ///< worked on at a time
  long strip_rows = 0;          ///< of the picture; 0: as many as there is memory for
};

class DevicePatches final : public PatchDevice {
 public:
  explicit DevicePatches(int device, PatchLimits limits = {}) : limits_(limits), queue_(device) {}

  bool has(std::span<const GroupShape> sizes) const override;
  void filter_groups(const PlanesView& noisy, const PlanesView& pilot, float largest, std::span<const GroupShape> sizes,
                     float* mean, float* variance, const std::function<bool(double)>& stop_at) override;
  std::unique_ptr<PatchSearch> search(const PlanesView& pilot, Index patch, Index reach, Index most) override;

  Queue& queue() { return queue_; }

 private:
  const PatchLimits limits_;
  Queue queue_;
};

}  // namespace gsc::cuda
