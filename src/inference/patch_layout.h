#pragma once
// Where the patches of a picture lie in it, how they are weighted and what their sums are, in plain words: what kernels
// are given includes no Eigen.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gsc {

/// Data whose rows are patches. Patch i has its top left pixel at row min(i / columns * stride, height - patch), column
/// min(i % columns * stride, width - patch); or in the list.
///   values (r, c, k) = channel k at (row + r, column + c), in the order r, c, k (k fastest)
struct PatchLayout {
  std::vector<const double*> channels;  ///< height x width, row by row
  std::ptrdiff_t height = 0, width = 0;
  std::ptrdiff_t patch = 0;  ///< pixels a side
  std::ptrdiff_t stride = 1, columns = 0;
  std::vector<std::uint32_t> corners;  ///< row and column of each patch; empty: they are the grid
  bool remove_mean = false;            ///< each channel of a patch has its mean taken out
};

/// How reconstructed patches are weighted: by one over their mean variance and `floor`, or all the same.
struct PatchWeighting {
  bool equal = false;
  double floor = 0;
  double mean_variance = 0;  ///< of a patch's mean, where that was taken out
};

/// Sums over the patches that a pixel is in (tasks/picture/patches.h): a channel's planes of height x width, row by row.
struct PatchSums {
  std::vector<double*> values, variances;  ///< weight times value, weight times variance
  double* weights = nullptr;
};

}  // namespace gsc
