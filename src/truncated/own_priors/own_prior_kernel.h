#pragma once
// One block of data to the posteriors on its candidates alone, under the model's prior or under one of its own for
// each data point. The code behind process_own_prior_block() exists once per SIMD target and is chosen at run time.

#include <hwy/aligned_allocator.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "inference/gap_rows.h"
#include "truncated/gaps/gap_kernel.h"
#include "truncated/own_priors/neighbour_sums.h"
#include "truncated/tree/prepared_model.h"

namespace gsc {

/// Scratch memory of one thread.
struct OwnPriorWorkspace {
  OwnPriorWorkspace(const PreparedModel& model, Index block_rows);

  std::vector<double> diagonal, eta, a;       ///< block_rows x candidates: each data point's system
  std::vector<float> projected, s, m, zz;     ///< padded: t W'Py and the sums over the neighbours of one data point
  std::vector<std::uint32_t> points, undone;  ///< all data points; those that single precision cannot do
  std::vector<float> gram;                    ///< padded: the diagonal of G^_n of a data point with gaps
  hwy::AlignedFreeUniquePtr<float[]> selection;
  hwy::AlignedFreeUniquePtr<double[]> tree;
  std::optional<GapWorkspace> gaps;  ///< once there are any
};

/// Data points on their way through the kernel. Tables are count x candidates.
struct OwnPriorBlock {
  Index first, count;  ///< rows of the data
  double* rows;        ///< count x padded; in: Y projection, out: scratch
  // With missing values the rows are sorted as `gaps` says; else it is null.
  const GapRows* gaps;
  double* diagonals;  ///< gaps.count() x padded; in: the diagonals of G^_n, out: scratch
  std::uint16_t* candidates;
  float *probability, *mean, *second_moment;  ///< not scaled
  double* log_sums;  ///< log of the summed state weights of each data point, with the constant, without y'Py
};

/// `sums` is null for the model's prior. Returns how many data points met a pivot that was lost to rounding.
std::int64_t process_own_prior_block(const PreparedModel& model, const SharedPrior& shared, NeighbourSums* sums,
                                     const OwnPriorBlock& block, OwnPriorWorkspace& workspace);

}  // namespace gsc
