#pragma once
// Patches of a picture that is on the device: cut out, and put back where they overlap.

#include <limits>

#include "cuda/queue/warp.h"

namespace gsc::cuda {

/// PatchLayout (inference/patch_layout.h) on the device.
struct PatchView {
  const double* values;  ///< plane by plane
  int channels, height, width, patch, stride;
  long columns;                  ///< of the grid
  const std::uint32_t* corners;  ///< null: the grid
  bool remove_mean;

  GSC_BOTH int last_row() const { return height - patch; }
  GSC_BOTH int last_column() const { return width - patch; }
  GSC_BOTH int row(long n) const {
    if (corners != nullptr) return static_cast<int>(corners[2 * n]);
    const long at = n / columns * stride;
    return static_cast<int>(at < last_row() ? at : last_row());
  }
  GSC_BOTH int column(long n) const {
    if (corners != nullptr) return static_cast<int>(corners[2 * n + 1]);
    const long at = n % columns * stride;
    return static_cast<int>(at < last_column() ? at : last_column());
  }
  /// A channel from the patch's top left pixel on.
  GSC_KERNEL const double* corner(long n, int channel) const {
    return values + (static_cast<long>(channel) * height + row(n)) * width + column(n);
  }
  /// 32 pixels of a patch, counted row by row, from its corner on.
  GSC_KERNEL Lanes<double> pixels(const double* corner, Lanes<int> pixel, Lanes<bool> exists) const {
    const Lanes<int> r = pixel / patch;
    return load<double>(corner, r * width + (pixel - r * patch), exists, 0.0);
  }
  /// What is taken out.
  GSC_KERNEL double mean(const double* corner) const {
    if (!remove_mean) return 0;
    Lanes<double> sum = 0.0;
    for (int base = 0; base < patch * patch; base += kLanes) {
      const Lanes<int> pixel = lane_index() + base;
      sum = sum + pixels(corner, pixel, pixel < patch * patch);
    }
    return warp_sum<double>(sum) / static_cast<double>(patch * patch);
  }
};

/// Patches as rows of data, less the origin. A warp a patch.
template <class Real>
struct CutKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  PatchView picture;
  long first;
  const double* origin;
  Real* rows;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const int area = picture.patch * picture.patch, channels = picture.channels;
    Real* row = rows + warp.index * area * channels;
    for (int k = 0; k < channels; ++k) {
      const double* corner = picture.corner(first + warp.index, k);
      const double mean = picture.mean(corner);
      for (int base = 0; base < area; base += kLanes) {
        const Lanes<int> pixel = lane_index() + base, at = pixel * channels + k;
        const Lanes<bool> exists = pixel < area;
        const Lanes<double> from = load<double>(origin, at, exists, 0.0);
        store<Real>(row, at, convert<Real>(picture.pixels(corner, pixel, exists) - mean - from), exists);
      }
    }
  }
};

/// What patches become: x - mean = W <s.z> and its variances, their means, and their weights, which are 0 where a patch
/// is not to be put back now. A warp a patch.
template <class Real>
struct EstimateKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  PatchView picture;
  long first;
  int candidates, dimensions;
  const std::uint16_t* chosen;
  const float *mean, *second_moment;  ///< of the candidates
  const Real* log_sums;               ///< unless null: what is left undone has an infinite one, and waits
  std::uint8_t* put;                  ///< of all patches: which have been put back
  const float* W;                     ///< latents x dimensions
  bool equal;
  double floor, mean_variance;
  float *values, *variances;
  double *means, *weights;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long i = warp.index, n = first + i;
    const Lanes<int> lane = lane_index();
    const bool waits = log_sums != nullptr && log_sums[i] == std::numeric_limits<Real>::infinity();
    if (waits || put[n] != 0) {
      store<double>(weights + i, lane, Lanes<double>(0.0), lane == 0);
      return;
    }
    Lanes<double> total = 0.0;
    for (int base = 0; base < dimensions; base += kLanes) {
      const Lanes<int> d = lane + base;
      const Lanes<bool> exists = d < dimensions;
      Lanes<float> value = 0.0F, variance = 0.0F;
      GSC_UNROLL4
      for (int c = 0; c < candidates; ++c) {
        const long at = i * candidates + c;
        const float m = mean[at], spread = second_moment[at] - m * m;
        const Lanes<float> w = load<float>(W + static_cast<long>(chosen[at]) * dimensions, d, exists, 0.0F);
        value = multiply_add<float>(m, w, value);
        variance = multiply_add<float>(spread > 0 ? spread : 0.0F, w * w, variance);
      }
      store<float>(values + i * dimensions, d, value, exists);
      store<float>(variances + i * dimensions, d, variance, exists);
      total = total + convert<double>(variance);
    }
    const double expected = warp_sum<double>(total) / dimensions + mean_variance;
    store<double>(weights + i, lane, Lanes<double>(equal ? 1 : 1 / (expected + floor)), lane == 0);
    store<std::uint8_t>(put + n, lane, Lanes<std::uint8_t>(std::uint8_t{1}), lane == 0);
    for (int k = 0; k < picture.channels; ++k)
      store<double>(means + i * picture.channels + k, lane, Lanes<double>(picture.mean(picture.corner(n, k))),
                    lane == 0);
  }
};

/// Patches first .. first+count-1 of a grid added to the sums over the patches of each pixel, one after the other: the
/// sums do not depend on how many are added at a time. A warp for 32 pixels of a row.
struct PutBackKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  PatchView picture;
  long first, count;
  int first_row, first_column, across;  ///< of the pixels they are over, and how many warps these are wide
  double mean_variance;
  const float *values, *variances;
  const double *means, *weights;
  const double* intercept;  ///< may be null
  double *sums, *variance_sums, *weight_sums;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const int y = first_row + static_cast<int>(warp.index / across);
    const Lanes<int> x = lane_index() + (first_column + static_cast<int>(warp.index % across) * kLanes);
    const Lanes<bool> exists = x < picture.width;
    const int patch = picture.patch, stride = picture.stride, channels = picture.channels, area = patch * patch;
    const int last_row = picture.last_row(), columns = static_cast<int>(picture.columns);
    // Patches of grid rows top .. bottom and grid columns left .. right are over the pixel. The last of each may be
    // nearer to the one before than a stride.
    const Lanes<int> left = select<int>(x < patch, 0, (x - patch + stride) / stride);
    const Lanes<int> right = select<int>(x >= picture.last_column(), columns - 1, x / stride);
    const long first_of = first / columns, last_of = (first + count - 1) / columns;
    const long highest = y < patch ? 0 : (y - patch) / stride + 1, lowest = y >= last_row ? last_of : y / stride;
    const long top = first_of > highest ? first_of : highest, bottom = last_of < lowest ? last_of : lowest;
    const long plane = static_cast<long>(picture.height) * picture.width, row_at = static_cast<long>(y) * picture.width;
    for (int k = 0; k < channels; ++k) {
      Lanes<double> sum = load<double>(sums + k * plane + row_at, x, exists, 0.0);
      Lanes<double> variance = load<double>(variance_sums + k * plane + row_at, x, exists, 0.0);
      Lanes<double> weight = load<double>(weight_sums + row_at, x, exists && k == 0, 0.0);
      for (long g = top; g <= bottom; ++g) {
        const int begins = static_cast<int>(g * stride < last_row ? g * stride : last_row);
        const int base = static_cast<int>(g * columns - first);
        GSC_UNROLL4
        for (int step = 0; step <= (patch - 1) / stride + 1; ++step) {
          const Lanes<int> column = left + step, n = column + base;
          const Lanes<bool> over = exists && column <= right && n >= 0 && n < static_cast<int>(count);
          const Lanes<int> within = x - smaller<int>(column * stride, Lanes<int>(picture.last_column()));
          const Lanes<int> d = (within + (y - begins) * patch) * channels + k, from = n * (area * channels) + d;
          const Lanes<double> w = load<double>(weights, n, over, 0.0);
          const Lanes<bool> counts = over && w > 0.0;
          Lanes<double> value = convert<double>(load<float>(values, from, counts, 0.0F)) +
                                load<double>(means, n * channels + k, counts, 0.0);
          if (intercept != nullptr) value = value + load<double>(intercept, d, counts, 0.0);
          sum = multiply_add<double>(w, value, sum);
          variance = multiply_add<double>(
              w, convert<double>(load<float>(variances, from, counts, 0.0F)) + mean_variance, variance);
          weight = weight + w;
        }
      }
      store<double>(sums + k * plane + row_at, x, sum, exists);
      store<double>(variance_sums + k * plane + row_at, x, variance, exists);
      store<double>(weight_sums + row_at, x, weight, exists && k == 0);
    }
  }
};

}  // namespace gsc::cuda
