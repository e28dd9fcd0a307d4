#pragma once
// A group of patches that look alike, of which some values are missing. As in group_filter.h they are draws of one
// Gaussian whose mean m and covariance are those of a pilot's patches; but every patch has a mask of its own, so each
// is a system of its own, of the size of what is observed of it:
//
//   C = sum_k (x_k - m)(x_k - m)' / (K - 1) + ridge I          D x D, of the pilot's patches x_k
//   x = m + C_.o (C_oo + v I)^-1 (y_o - m_o)                   o: the observed values of a patch, v: their noise
//   Var(x_d) = C_dd - C_do (C_oo + v I)^-1 C_od
//
// With C_oo + v I = L L' and B = L^-1 C_o. (rows as long as a patch) both are sums of rows of B,
//
//   x = m + B' z,   z = L^-1 (y_o - m_o);     Var(x_d) = C_dd - sum_i B_id^2;     L_ij = B_j,o(i) for j < i,
//
// so one loop over rows makes L, B and z: row i is that of C less those before it times L_ij, over L_ii.
//
// Where few values are missing (u) and only these are asked for, a system of their number does, with the inverse of all
// that the patches of a group share,
//
//   P = (C + v I)^-1 = (I - X'(X X' + c I)^-1 X) / (ridge + v),   c = (K - 1)(ridge + v),   X: the x_k - m as rows
//   x_u = m_u - P_uu^-1 P_uo (y_o - m_o);     Var(x_u) = diag P_uu^-1 - v

#include <gsc/types.h>
#include <hwy/aligned_allocator.h>

#include <vector>

namespace gsc {

/// Where the matrices lie: rows of `width` floats, of which `values` count.
struct MaskedGroupArrays {
  std::size_t values, members, width;
  float* X;                    ///< members x width: the pilot's patches, less their mean
  float *C, *B;                ///< values x width
  float *mean, *x, *variance;  ///< width
  float* L;                    ///< 2 width: a row of L, then z
  float *P, *Y;                ///< values x width; members x width: Y'Y = X'(X X' + c I)^-1 X
  float *W, *residual;         ///< systems of few missing values: [P_uu | I], and y - m, 0 where missing
};

/// Memory for groups of so many patches of so many values, and the algebra. One per thread.
class MaskedGroupFilter {
 public:
  MaskedGroupFilter(Index values, Index members);

  /// Member k's values of the pilot.
  float* pilot(Index k) { return arrays_.X + k * width_; }

  /// Mean and covariance of the first `members` patches, which were set.
  void prepare(Index members, float ridge);

  /// One patch of that Gaussian, of which `observed` values are known: values()[i] at places()[i] are set. Leaves the
  /// means and variances of all values in mean() and variance().
  void fill(Index observed, float noise_variance);
  /// The same, good for the values that are not observed: those of others may be anything.
  void fill_missing(Index observed, float noise_variance);
  std::uint32_t* places() { return places_.data(); }
  float* values() { return observed_.data(); }
  const float* mean() const { return arrays_.x; }
  const float* variance() const { return arrays_.variance; }

 private:
  Index width_;
  MaskedGroupArrays arrays_;
  std::vector<std::uint32_t> places_;
  std::vector<float> observed_;
  std::vector<std::uint32_t> missing_;
  std::vector<double> rows_;  // of P: X, Y and L
  float ridge_ = 0;
  float precise_for_ = -1;  // the noise variance of P, or none
  hwy::AlignedFreeUniquePtr<float[]> memory_;
};

}  // namespace gsc
