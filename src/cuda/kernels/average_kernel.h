#pragma once
// From the sums of filtered patches to a picture: sums / weights, planes back to channels (tasks/picture/planes.h), and the
// mean and variance of the results of several sizes (Welford 1962).

#include "cuda/kernels/match_kernel.h"

namespace gsc::cuda {

/// A warp for 32 pixels of a row.
struct AverageKernel {
  static constexpr int kWarps = 4, kBlocks = 8;

  WindowView window;  ///< the shape of the sums
  int patch;
  int first_row;  ///< of the picture; the results begin here
  double share;   ///< of a value, what one of the sums' numbers is, times that of the weights
  const std::int64_t *sums, *weights;
  int count;  ///< sizes with this one
  long result_step;
  float *mean, *variance;  ///< planes of rows of `width`; variance may be null

  /// What all patches over a pixel weigh: weights are those of patches, where they begin.
  GSC_KERNEL Lanes<std::int64_t> weight(long plane, int row, Lanes<int> col) const {
    const std::int64_t* of_plane = weights + plane * window.plane_step;
    const int top = row - patch + 1 > 0 ? row - patch + 1 : 0;
    const int bottom = row < window.height - patch ? row : window.height - patch;
    Lanes<std::int64_t> sum = std::int64_t{0};
    for (int y = top; y <= bottom; ++y) {
      const std::int64_t* of_row = of_plane + static_cast<long>(y - window.top) * window.stride;
      GSC_UNROLL4
      for (int c = 0; c < patch; ++c) {
        const Lanes<int> x = col - c;
        const Lanes<bool> begins = x >= 0 && x <= window.width - patch;
        sum = sum + load<std::int64_t>(of_row, x, begins, std::int64_t{0});
      }
    }
    return sum;
  }

  GSC_KERNEL Lanes<double> value(long plane, int row, Lanes<int> col, Lanes<bool> exists) const {
    const std::int64_t* of_row = sums + plane * window.plane_step + static_cast<long>(row - window.top) * window.stride;
    const Lanes<std::int64_t> sum = load<std::int64_t>(of_row, col, exists, std::int64_t{0});
    const Lanes<std::int64_t> all = weight(plane, row, col);
    const Lanes<double> by = select<double>(exists, convert<double>(all), 1.0);
    return convert<double>(sum) * share / by;
  }

  GSC_KERNEL void add(long plane, long row, Lanes<int> col, Lanes<bool> exists, Lanes<double> value) const {
    const long at = plane * result_step + row * window.width;
    const Lanes<float> now = convert<float>(value), old = load<float>(mean + at, col, count > 1 && exists, 0.0F);
    const Lanes<float> change = now - old, n = static_cast<float>(count);
    store<float>(mean + at, col, old + change / n, exists);
    if (variance == nullptr) return;
    const Lanes<float> before = load<float>(variance + at, col, count > 1 && exists, 0.0F);
    store<float>(variance + at, col, (before + change * change / n) * ((n - 1.0F) / n), exists);
  }

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long across = (window.width + kLanes - 1) / kLanes, result_row = warp.index / across;
    const int row = first_row + static_cast<int>(result_row);
    const Lanes<int> col = lane_index() + static_cast<int>(warp.index % across) * kLanes;
    const Lanes<bool> exists = col < window.width;
    if (window.planes != 3) {
      for (long p = 0; p < window.planes; ++p) add(p, result_row, col, exists, value(p, row, col, exists));
      return;
    }
    const Lanes<double> third = 0.57735026918962576, half = 0.70710678118654752, sixth = 0.40824829046386302;
    const Lanes<double> y = third * value(0, row, col, exists), u = half * value(1, row, col, exists);
    const Lanes<double> v = sixth * value(2, row, col, exists);
    add(0, result_row, col, exists, y + u + v);
    add(1, result_row, col, exists, y - v - v);
    add(2, result_row, col, exists, y - u + v);
  }
};

}  // namespace gsc::cuda
