#pragma once
// One block of data through candidate selection, the tree and the singletons. The code behind process_block() exists
// once per SIMD target and is chosen at run time.

#include <cstdint>
#include <memory>

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
  std::int64_t clamped_pivots = 0;
};

/// Per data point, on request; null pointers are not filled. Rows have the given stride.
struct BlockPosterior {
  double* probability = nullptr;       ///< count x latents
  double* second_moment = nullptr;     ///< count x latents: <(s.z)^2>, scaled
  std::int32_t* candidates = nullptr;  ///< count x candidates, ascending
  std::uint64_t* keys = nullptr;       ///< count: a hash of the candidates
};

/// Scratch memory of one thread, reused from block to block.
class Workspace {
 public:
  Workspace(const PreparedModel& model, Index block_rows);
  ~Workspace();
  Workspace(Workspace&&) noexcept;

  struct Buffers;
  Buffers& buffers() { return *buffers_; }

 private:
  std::unique_ptr<Buffers> buffers_;
};

/// Data points on their way through the kernel.
struct Block {
  Index count;
  double* rows;      ///< count x padded; in: Y projection, out: posterior means of s.z (scaled)
  double* log_sums;  ///< out: log of the summed state weights of each data point, without constant and y'Py
  BlockSums* sums;   ///< added to; may be null
  BlockPosterior posterior;
};

void process_block(const PreparedModel& model, const Block& block, Workspace& workspace);

}  // namespace gsc
