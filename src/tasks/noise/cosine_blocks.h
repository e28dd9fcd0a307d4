#pragma once
// Overlapping blocks of a picture and their energies in the orthonormal cosine basis: what noise_level.cpp measures.

#include <gsc/picture.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace gsc {

inline constexpr Index kSmallestBlock = 4, kLargestBlock = 8;

/// What is known of each block, over all channels.
struct CosineBlocks {
  Index size, stride, channels;
  Matrix means;   ///< blocks x channels
  Vector coarse;  ///< S, mean of the channels
  Matrix fine;    ///< blocks x K, c_k^2, mean of the channels
  Index sparse;   ///< the blocks of every such row and column of them have their energies told by rings, too:
  std::vector<Index> ringed;  ///< which they are
  Matrix rings;               ///< theirs x rings r > 1, sum c_uv^2 over the channels, as well

  Index count() const { return coarse.size(); }
  /// So many blocks that do not overlap cover what these cover.
  double area(double blocks) const {
    const auto own = static_cast<double>(stride * stride) / static_cast<double>(size * size);
    return blocks * static_cast<double>(channels) * std::min(1.0, own);
  }
  /// Relative standard error of sigma, from so many blocks.
  double error(double blocks) const { return std::sqrt(1 / (2 * area(blocks) * static_cast<double>(fine.cols()))); }
};

/// Of a picture with at least kSmallestBlock pixels in each direction.
CosineBlocks cosine_blocks(const Picture& picture, int threads = 1);

}  // namespace gsc
