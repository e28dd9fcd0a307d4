#pragma once

#include <gsc/types.h>
#include <hwy/aligned_allocator.h>

namespace gsc {

/// Rows (of latents, or of dimensions) x points, every row aligned for vectors; starts as zeros.
class LatentRows {
 public:
  using Map = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;
  LatentRows(Index rows, Index points);
  double* row(Index h) { return values_.get() + h * stride_; }
  Index stride() const { return stride_; }
  /// The first `points` of rows first, first + 1, ...
  Map block(Index first, Index rows, Index points) { return {row(first), rows, points, Eigen::OuterStride<>(stride_)}; }
  Map block(Index points) { return block(0, rows_, points); }

 private:
  Index rows_, stride_;
  hwy::AlignedFreeUniquePtr<double[]> values_;
};

}  // namespace gsc
