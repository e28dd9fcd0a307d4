#pragma once
// Solving with a positive definite matrix on the device, in double.

#include "cuda/queue/queue.h"

namespace gsc::cuda {

/// Sizes are rounded up to 32, the rest of A being that of the identity and the rest of B zero: see padded().
class Cholesky {
 public:
  explicit Cholesky(Queue& queue) : queue_(queue), failed_(queue, 1) {}
  static long padded(long size) { return (size + kLanes - 1) / kLanes * kLanes; }

  /// X = B A^-1 (all row-major; A: size x size, B and X: rows x size, both padded; X wide `X_wide`, of which the first
  /// `X_rows` rows and `X_wide` columns are written). A and B are lost. False, and X is of no use, if A is not positive
  /// definite.
  bool solve(double* A, long size, double* B, long rows, double* X, long X_rows, long X_wide);

 private:
  Queue& queue_;
  Array<double> inverse_, failed_;
};

}  // namespace gsc::cuda
