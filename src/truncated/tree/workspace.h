#pragma once
// Scratch memory of one thread for the block kernel.

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <vector>

#include "truncated/tree/tree_kernel.h"

namespace gsc {

struct Workspace::Buffers {
  std::vector<std::uint16_t> candidates;  ///< block_rows x candidates, most promising first
  /// Data points of the block, sorted by a hash of their candidate set.
  struct Keyed {
    std::uint64_t key;
    std::uint32_t point;
  };
  std::vector<Keyed> order;
  std::vector<double> best_singleton;  ///< the largest log weight of a singleton, per data point
  hwy::AlignedFreeUniquePtr<float[]> selection;
  hwy::AlignedFreeUniquePtr<double[]> singletons;  ///< lanes x padded weights of the singletons outside the candidates
  hwy::AlignedFreeUniquePtr<double[]> tree;        ///< vectors of the tree, as the kernel lays them out
};

}  // namespace gsc
