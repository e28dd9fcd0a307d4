#pragma once
// Data points with missing values through candidate selection, the tree and the singletons: the other half of
// tree_kernel.h, for systems that are a data point's own (gap_model.h). The code behind process_gap_block() exists once per
// SIMD target and is chosen at run time.

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <vector>

#include "truncated/tree/gap_model.h"
#include "truncated/tree/tree_kernel.h"

namespace gsc {

/// So many data points are selected for together.
inline constexpr Index kGapRows = 32;

/// Scratch memory of one thread.
struct GapWorkspace {
  explicit GapWorkspace(const PreparedModel& model);

  // Of kGapRows data points each.
  std::vector<double> system;            ///< lower triangles of J^_n, or for a full slab of G^_n, on the candidates
  std::vector<double> eta, a, own_unit;  ///< on the candidates, like `system` by position: see OwnSystem()
  std::vector<double> log_weights;       ///< padded: of all singletons
  std::vector<double> scratch;           ///< D
  SingleMatrix picks, columns;
  hwy::AlignedFreeUniquePtr<float[]> selection;
  hwy::AlignedFreeUniquePtr<double[]> singletons;  ///< lanes x padded
  hwy::AlignedFreeUniquePtr<double[]> tree;
};

/// G^ of data points that miss the same entries, computed once for all of them.
struct SharedGram {
  Matrix gram;          ///< latents x latents
  SingleMatrix single;  ///< latents x padded
};

/// What a tree's sums say of the products of latents, point by point: for whoever needs more than their sum.
struct GapProducts {
  std::uint16_t* candidates;  ///< count x H', by position of the products
  double* products;           ///< count x H'(H'+1)/2: <(s.z)(s.z)'> on the candidates, lower triangle by rows, scaled
};

/// Data points on their way through the kernel. The units are those of PreparedModel.
struct GapBlock {
  Index count;
  const double* observed;       ///< count x D: 1 or 0
  double* rows;                 ///< count x padded; in: Y projection with zeros for what is missing, out: means of s.z
  double* second_moment;        ///< count x padded; in: the diagonals of G^_n, out: <(s.z)^2>
  std::uint16_t* candidates;    ///< out: count x candidates, most promising first
  double* log_sums;             ///< out: log of the summed state weights
  BlockSums* sums;              ///< added to; may be null
  double* probability;          ///< count x latents; may be null
  const GapProducts* products;  ///< may be null
  const SharedGram* shared;     ///< of all these data points, or null
};

/// Returns how many data points met a pivot that was lost to rounding.
std::int64_t process_gap_block(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace);

}  // namespace gsc
