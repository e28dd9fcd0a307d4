#pragma once
// A group of patches that look alike, taken as draws of one Gaussian whose mean and covariance are those of a pilot's
// patches (Lebrun, Buades and Morel 2013, "Non-local Bayes", take it from a first result in the same way).
//
//   X = [x_1 .. x_K] - m    D x K, the pilot's patches less their mean m;   Y = [y_1 .. y_K] - m, the noisy ones
//   C = X X' / (K - 1)                          covariance, of rank K - 1
//   z = m + C (C + v I)^-1 (y - m)              posterior mean of a patch with noise variance v
//     = m + X M^-1 X'(y - m),    M = X'X + c I,    c = (K - 1) v            K x K instead of D x D
//
// The gains C (C + v I)^-1 have the eigenvalues of I - c M^-1 (and zeros), so their squares sum up to
//
//   g = K - 2 c trace(M^-1) + c^2 |M^-1|^2
//
// and the noise that is left in the patch is v g: the fewer directions a group needs, the more it counts when
// overlapping patches are averaged.

#include <gsc/types.h>
#include <hwy/aligned_allocator.h>

namespace gsc {

/// Where the matrices above lie: rows of `width` floats, of which `members` count.
struct GroupArrays {
  std::size_t values, members, width;
  float *X, *Y;      ///< values x width
  float *M, *B, *S;  ///< members x width: M^-1 in the end; X'Y; M^-1 X'Y
  float* mean;       ///< values
};

/// Memory for groups of so many patches of so many values, and the filter itself. One per thread.
class GroupFilter {
 public:
  GroupFilter(Index values, Index members);

  /// Member k's value d of pilot and noisy picture.
  float& pilot(Index d, Index k) { return arrays_.X[d * width_ + k]; }
  float& noisy(Index d, Index k) { return arrays_.Y[d * width_ + k]; }

  /// Filters `members` patches, which were set, and replaces the noisy ones. Returns g. One member: it becomes the
  /// pilot's patch.
  float run(Index members, float variance);

 private:
  Index values_, width_;
  hwy::AlignedFreeUniquePtr<float[]> memory_;
  GroupArrays arrays_;
};

}  // namespace gsc
