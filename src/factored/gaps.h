#pragma once
// The data points with gaps of a block, on their way through factored sweeps: the buffers of one thread.

#include "factored/model.h"
#include "inference/gap_rows.h"
#include "inference/latent_rows.h"
#include "math/blas.h"

namespace gsc {

class FactoredGaps {
 public:
  FactoredGaps(const FactoredModel& model, Index most_points);

  /// The rows with gaps of a block: data with zeros for what is missing, in the order of `rows`. Their codes start as
  /// zero, or as columns first + origin of `codes`, as in FactoredBlock.
  void load(const GapRows& rows, const ConstMatrixBlock& Y, Index first, const Matrix& codes);
  /// Updates every latent of every point once, given the others.
  void sweep();
  /// Sweeps until nothing moves; each few points until they are still.
  void converge();

  Index count() const { return points_; }
  LatentRows::Map x() { return x_.block(points_); }
  LatentRows::Map gamma() { return gamma_.block(points_); }
  LatentRows::Map second() { return second_.block(points_); }
  /// Points x D: 1 where a value is missing.
  Matrix missing();
  /// The bound of each point.
  Vector bounds();
  double sum_local() { return local_.block(points_).sum(); }
  /// What the bounds of these points are more than if the Gram matrix and the constant were those of complete data:
  ///
  ///   sum over the missing of  1/2 P_d (W x)_d^2 + 1/2 log 2 pi sigma_d^2
  double surplus();

 private:
  double sweep(Index chunk);

  const FactoredModel& model_;
  Index points_ = 0;
  LatentRows x_, own_, tau2_, logit_, gamma_, second_;
  LatentRows residual_, observed_;
  LatentRows local_, change_;
};

}  // namespace gsc
