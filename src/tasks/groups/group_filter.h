#pragma once
// A group of patches that look alike, taken as draws of one Gaussian whose mean and covariance are those of a pilot's
// patches (Lebrun, Buades and Morel 2013, "Non-local Bayes", take it from a first result in the same way).
//
//   X = [x_1 .. x_K] - m    D x K, the pilot's patches less their mean m;   Y = [y_1 .. y_K] - m, the noisy ones
//   C = X X' / (K - 1)                          covariance, of rank K - 1
//   z = m + C (C + v I)^-1 (y - m)              posterior mean of a patch with noise variance v
//
// With c = (K - 1) v there are two ways, of which the cheaper is taken:
//
//   few members:  z = m + X M^-1 X'(y - m),        M = X'X + c I,    K x K
//   few values:   z = m + (I - c M^-1)(y - m),     M = XX' + c I,    D x D
//
// The gains C (C + v I)^-1 have the eigenvalues of I - c M^-1 (and zeros), so their squares sum up to
//
//   g = n - 2 c trace(M^-1) + c^2 |M^-1|^2         n = K or D, the size of M
//
// and the noise that is left in the patch is v g: the fewer directions a group needs, the more it counts when
// overlapping patches are averaged.

#include <gsc/types.h>
#include <hwy/aligned_allocator.h>

namespace gsc {

/// Where the matrices above lie: rows of `width` floats, a multiple of the widest vector.
struct GroupArrays {
  std::size_t values, members, width;
  bool by_value;     ///< rows of X and Y are values (few members) or members (few values)
  float *X, *Y;      ///< values x width or members x width
  float *M, *B, *S;  ///< size of M x width: M^-1 in the end; X'Y; M^-1 X'Y (of few values B is members x width)
  float* mean;       ///< values, or width of them
};

/// Memory for groups of so many patches of so many values, and the filter itself. One per thread.
class GroupFilter {
 public:
  GroupFilter(Index values, Index members);

  /// A group of so many patches comes next. Their values, all of them, are then set, and run() is called.
  void begin(Index members);
  /// Member k's value d of pilot and noisy picture.
  float& pilot(Index d, Index k) { return arrays_.X[d * value_stride_ + k * member_stride_]; }
  float& noisy(Index d, Index k) { return arrays_.Y[d * value_stride_ + k * member_stride_]; }

  /// Filters the patches and replaces the noisy ones. Returns g. One member: it becomes the pilot's patch.
  float run(float variance);

 private:
  Index values_, value_stride_ = 1, member_stride_ = 1;
  hwy::AlignedFreeUniquePtr<float[]> memory_;
  GroupArrays arrays_;
};

}  // namespace gsc
