#pragma once
// One block of data from the source to scaled posterior means: what e_step() and infer() share.

#include <gsc/inference.h>

#include "inference/kernels.h"
#include "inference/parallel_blocks.h"
#include "math/blas.h"

namespace gsc {

/// Throws unless options and data fit the model.
void require_fit(const Model& model, const Data& data, const InferenceOptions& options);
/// Throws unless there is any data.
void require_rows(const Data& data);
/// `count`, or if negative all rows from `first` on; throws unless the data has them.
Index rows_asked_for(const Data& data, Index first, Index count);

BlockPlan plan_blocks(const PreparedModel& prepared, Index first, Index count, int threads);

/// The buffers of one thread.
struct BlockInference {
  BlockInference(const PreparedModel& prepared, Index block_rows);

  /// Whether these buffers do for the model and so many rows.
  bool fits(const PreparedModel& prepared, Index block_rows) const;

  /// Leaves the data, less the intercept, in Y, scaled posterior means in `rows` and the log of the summed state
  /// weights in log_sums.
  void run(const PreparedModel& prepared, const Data& data, Index first, Index count, BlockSums* sums,
           const BlockPosterior& posterior);

  Matrix Y;     ///< block_rows x D
  Matrix rows;  ///< block_rows x padded
  Vector log_sums;

 private:
  int candidates_, max_active_;
  bool full_slab_;
  Workspace workspace_;
};

}  // namespace gsc
