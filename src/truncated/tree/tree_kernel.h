#pragma once
// One block of data through candidate selection, the tree and the singletons. The code behind process_block() exists
// once per SIMD target and is chosen at run time.

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <vector>

#include "truncated/tree/prepared_model.h"

namespace gsc {

/// Sums over data points in the scaled units of PreparedModel. One per thread.
struct BlockSums {
  explicit BlockSums(const PreparedModel& model);
  Vector single_s, single_m, single_ZZ;  ///< padded; <s>, <s.z>, <(s.z)^2> of singletons outside the candidates
  Vector s, m;                           ///< latents; of the trees, like all below
  Matrix ZZ;                             ///< latents x latents, entries (i, j) with i <= j
  // Full slab only.
  Vector lambda;
  Matrix T, SS;  ///< as ZZ
};

/// Per data point, on request; null pointers are not filled. Rows have the given stride.
struct BlockPosterior {
  double* probability = nullptr;       ///< count x latents
  double* second_moment = nullptr;     ///< count x latents: <(s.z)^2>, scaled
  std::int32_t* candidates = nullptr;  ///< count x candidates, ascending
  std::uint64_t* keys = nullptr;       ///< count: a hash of the candidates
  bool keys_alone = false;             ///< nothing else is wanted; rows are then left as they are
};

/// The vectors of any tree, and what selection needs for so many data points, as this machine's kernels lay them out.
hwy::AlignedFreeUniquePtr<double[]> tree_memory(const PreparedModel& model);
hwy::AlignedFreeUniquePtr<float[]> selection_memory(const PreparedModel& model, Index points);

/// Scratch memory of one thread, reused from block to block.
struct Workspace {
  Workspace(const PreparedModel& model, Index block_rows);

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
  hwy::AlignedFreeUniquePtr<double[]> tree;
};

/// Data points on their way through the kernel.
struct Block {
  Index count;
  double* rows;      ///< count x padded; in: Y projection, out: posterior means of s.z (scaled)
  double* log_sums;  ///< out: log of the summed state weights of each data point, without constant and y'Py
  BlockSums* sums;   ///< added to; may be null
  BlockPosterior posterior;
};

/// Returns how many data points met a pivot that rounding had made zero or negative (then clamped).
std::int64_t process_block(const PreparedModel& model, const Block& block, Workspace& workspace);

}  // namespace gsc
