#pragma once
// One block of data from the source to scaled posterior means: what e_step() and infer() share.

#include <gsc/inference.h>

#include <optional>

#include "inference/gap_rows.h"
#include "inference/parallel_blocks.h"
#include "math/blas.h"
#include "truncated/gaps/gap_kernel.h"
#include "truncated/tree/tree_kernel.h"

namespace gsc {

BlockPlan plan_blocks(const PreparedModel& prepared, Index first, Index count, int threads);

/// The buffers of one thread.
struct BlockInference {
  BlockInference(const PreparedModel& prepared, Index block_rows);

  /// Whether these buffers do for the model and so many rows.
  bool fits(const PreparedModel& prepared, Index block_rows) const;

  /// Leaves the data, less the intercept, in Y, scaled posterior means in `rows` and the log of the summed state
  /// weights in log_sums. Where values are missing, rows are sorted as `gaps` says, Y has zeros in their place, and
  /// log_sums has what makes up for the entries that the model's constant counts.
  /// Returns how many data points met a pivot that was lost to rounding.
  std::int64_t run(const PreparedModel& prepared, const Data& data, Index first, Index count, BlockSums* sums,
                   const BlockPosterior& posterior);
  /// Brings all of that, and the posterior, into the order of the data.
  void restore_order(const PreparedModel& prepared, const BlockPosterior& posterior);

  /// From now on rows with gaps leave their products too; with `all`, every row is one of those.
  void keep_products(bool all);

  Matrix Y;     ///< block_rows x D
  Matrix rows;  ///< block_rows x padded
  Vector log_sums;
  GapRows gaps;
  Matrix second_moment;  ///< of rows with gaps: gaps.count() (it may have more) x padded, scaled
  /// Of rows with gaps that have any observed entry, if kept (GapProducts).
  Table<std::uint16_t> product_latents;
  Matrix products;

 private:
  int candidates_, max_active_;
  std::int64_t run_gaps(const PreparedModel& prepared, BlockSums* sums, const BlockPosterior& posterior);

  /// Of the data points that miss what this row with gaps misses.
  const SharedGram& shared_gram(const PreparedModel& prepared, Index row);

  bool full_slab_;
  bool keep_products_ = false, all_rows_ = false;
  Workspace workspace_;
  std::optional<GapWorkspace> gap_workspace_;
  SharedGram shared_;
  Vector shared_observed_;                        // the mask it is of,
  std::shared_ptr<const GapModel> shared_model_;  // and the model
};

}  // namespace gsc
