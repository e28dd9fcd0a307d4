#pragma once
// Patches reconstructed from their posteriors and put back into the picture, on the device.

#include <vector>

#include "cuda/device_picture.h"

namespace gsc::cuda {

/// What the device makes of the candidates of a block of data points: as SparseOutput, on the device.
struct KeptMoments {
  int candidates;
  const std::uint16_t* chosen;
  const float *mean, *second_moment;
};

class Mosaic {
 public:
  /// W: latents x dimensions; the intercept may be empty. The patches are those of a grid; `most` are put back at a
  /// time, 0 lets it choose.
  Mosaic(Queue& queue, const DevicePicture& picture, const PatchWeighting& weighting, const std::vector<float>& W,
         const std::vector<double>& intercept, long patches, long most);
  /// That it takes for so many patches, but for what grows with the model alone.
  static std::size_t bytes(const DevicePicture& picture, long patches);

  /// Adds patches first .. first+count-1, in ascending order, but for those that were added before and those whose log
  /// sum is infinite (`log_sums` unless null).
  template <class Real>
  void add(long first, long count, const KeptMoments& kept, const Real* log_sums);
  void give(const PatchSums& to);

 private:
  Queue& queue_;
  const DevicePicture& picture_;
  const PatchWeighting weighting_;
  const long most_;
  Array<float> W_, values_, variances_;
  Array<double> intercept_, means_, weights_;
  Array<std::uint8_t> put_;
  Array<double> sums_, variance_sums_, weight_sums_;
};

}  // namespace gsc::cuda
