#pragma once
// Subsets of a few candidates, walked by each lane in its registers. The formulas are those of
// truncated/tree/subset_tree-inl.h, whose head explains them; here is how they lie on a warp.
//
//   J, eta, a   as there: J has a unit diagonal to begin with and is a lower triangle by rows
//   x, g        log weight less the reference, and a factor: weight exp(x) g
//   Q, e, s     adjoints: sums of weight times (s.z)(s.z)', s.z, s
//
// What may not be (more than max_active latents) gets a log weight so low that neither it nor what it leads to counts.

#include <limits>

#include "cuda/queue/warp.h"

namespace gsc::cuda {

template <class Real>
struct Pivots {
  /// Pivots below this are rounding errors of zero.
  static constexpr Real kSmallest = sizeof(Real) == 8 ? static_cast<Real>(1e-15) : static_cast<Real>(1e-6);
  static constexpr Real kImpossible = static_cast<Real>(-1e30);
};

/// What a walk tells beside its sums.
template <class Real>
struct Extremes {
  Lanes<Real> max_x;      ///< the best log weight that was met
  Lanes<Real> min_pivot;  ///< the smallest pivot
};

/// The Schur complement that candidate j, with r = 1/sqrt(pivot) and f = eta_j r, leaves of the candidates before it.
template <class Real, int j>
GSC_KERNEL void reduce(const Lanes<Real>* J, const Lanes<Real>* eta, Lanes<Real> r, Lanes<Real> f, Lanes<Real>* v,
                       Lanes<Real>* J_left, Lanes<Real>* eta_left) {
  GSC_UNROLL
  for (int k = 0; k < j; ++k) {
    v[k] = J[triangle(j, k)] * r;
    eta_left[k] = multiply_add<Real>(Real{0} - v[k], f, eta[k]);
    GSC_UNROLL
    for (int l = 0; l <= k; ++l) J_left[triangle(k, l)] = multiply_add<Real>(Real{0} - v[k], v[l], J[triangle(k, l)]);
  }
}

/// What candidate c, which was taken with r = 1/sqrt(pivot), u_k = J_ck/pivot and q = eta_c/pivot, makes of the
/// adjoints of its system: it adds to those of the candidates before it nothing, and has its own. m: the mass of its
/// states.
///   t_k = sum_l Q_kl u_l   w = sum_k e_k u_k   e_c = m q - w   Q_cc = m (r^2 + q^2) + sum_k t_k u_k - 2 q w
///   Q_ck = q e_k - t_k
template <class Real>
GSC_KERNEL void own_adjoints(int c, Lanes<Real> m, Lanes<Real> r, Lanes<Real> q, const Lanes<Real>* u,
                             const Lanes<Real>* Q, const Lanes<Real>* e, Lanes<Real>* Q_row, Lanes<Real>& e_c) {
  Lanes<Real> w = Real{0}, Q_cc = Real{0};
  GSC_UNROLL
  for (int k = 0; k < c; ++k) {
    Lanes<Real> t = Real{0};
    GSC_UNROLL
    for (int l = 0; l < c; ++l) t = multiply_add<Real>(Q[k >= l ? triangle(k, l) : triangle(l, k)], u[l], t);
    w = multiply_add<Real>(e[k], u[k], w);
    Q_cc = multiply_add<Real>(t, u[k], Q_cc);
    Q_row[k] = multiply_add<Real>(q, e[k], Real{0} - t);
  }
  e_c = multiply_add<Real>(m, q, Real{0} - w);
  const Lanes<Real> curvature = multiply_add<Real>(r, r, q * q);
  Q_row[c] = multiply_add<Real>(m, curvature, multiply_add<Real>(Real{-2} * q, w, Q_cc));
}

/// All subsets of R candidates, the empty one not counted. `depth`: how many have joined within the walk.
template <class Real, int R, int depth = 0>
struct Walk {
  template <int j>
  static GSC_KERNEL Lanes<Real> child(const Lanes<Real>* J, const Lanes<Real>* eta, const Lanes<Real>* a, Lanes<Real> x,
                                      Lanes<Real> g, Lanes<int> allowed, Lanes<Real>* Q, Lanes<Real>* e, Lanes<Real>* s,
                                      Extremes<Real>& extremes) {
    const Lanes<Real> pivot = J[triangle(j, j)];
    extremes.min_pivot = smaller<Real>(extremes.min_pivot, pivot);
    const Lanes<Real> r = inverse_root(larger<Real>(pivot, Pivots<Real>::kSmallest));
    const Lanes<Real> f = eta[j] * r, q = f * r, g_own = g * r;
    Lanes<Real> x_own = multiply_add<Real>(Real(0.5) * f, f, x + a[j]);
    x_own = select<Real>(allowed > depth, x_own, Pivots<Real>::kImpossible);
    extremes.max_x = larger<Real>(extremes.max_x, x_own);
    Lanes<Real> m = exponential(x_own) * g_own;
    if constexpr (j == 0) {
      e[0] = m * q;
      Q[0] = m * multiply_add<Real>(r, r, q * q);
    } else {
      Lanes<Real> v[j], J_left[j * (j + 1) / 2], eta_left[j], Q_left[j * (j + 1) / 2], e_left[j], s_left[j];
      reduce<Real, j>(J, eta, r, f, v, J_left, eta_left);
      m = m +
          Walk<Real, j, depth + 1>::run(J_left, eta_left, a, x_own, g_own, allowed, Q_left, e_left, s_left, extremes);
      GSC_UNROLL
      for (int k = 0; k < j; ++k) v[k] = v[k] * r;
      Lanes<Real> row[j + 1], e_own;
      own_adjoints<Real>(j, m, r, q, v, Q_left, e_left, row, e_own);
      e[j] = e_own;
      GSC_UNROLL
      for (int k = 0; k <= j; ++k) Q[triangle(j, k)] = row[k];
      GSC_UNROLL
      for (int k = 0; k < j; ++k) {
        e[k] = e[k] + e_left[k];
        s[k] = s[k] + s_left[k];
        GSC_UNROLL
        for (int l = 0; l <= k; ++l) Q[triangle(k, l)] = Q[triangle(k, l)] + Q_left[triangle(k, l)];
      }
    }
    s[j] = m;
    return m;
  }

  /// Children in rising order: each sets its own entries and adds to those before. Returns the mass.
  template <int j>
  static GSC_KERNEL Lanes<Real> children(const Lanes<Real>* J, const Lanes<Real>* eta, const Lanes<Real>* a,
                                         Lanes<Real> x, Lanes<Real> g, Lanes<int> allowed, Lanes<Real>* Q,
                                         Lanes<Real>* e, Lanes<Real>* s, Extremes<Real>& extremes) {
    if constexpr (j >= R) {
      return Real{0};
    } else {
      const Lanes<Real> m = child<j>(J, eta, a, x, g, allowed, Q, e, s, extremes);
      return m + children<j + 1>(J, eta, a, x, g, allowed, Q, e, s, extremes);
    }
  }

  static GSC_KERNEL Lanes<Real> run(const Lanes<Real>* J, const Lanes<Real>* eta, const Lanes<Real>* a, Lanes<Real> x,
                                    Lanes<Real> g, Lanes<int> allowed, Lanes<Real>* Q, Lanes<Real>* e, Lanes<Real>* s,
                                    Extremes<Real>& extremes) {
    return children<0>(J, eta, a, x, g, allowed, Q, e, s, extremes);
  }
};

/// The best log weight on the one path on which candidate R-1 joins, then R-2, and so on: a good guess of the best
/// state of all.
template <class Real, int R, int depth = 0>
GSC_KERNEL Lanes<Real> best_of_chain(const Lanes<Real>* J, const Lanes<Real>* eta, const Lanes<Real>* a, Lanes<Real> x,
                                     Lanes<int> allowed) {
  if constexpr (R == 0) {
    return x;
  } else {
    constexpr int j = R - 1;
    const Lanes<Real> r = inverse_root(larger<Real>(J[triangle(j, j)], Pivots<Real>::kSmallest));
    const Lanes<Real> f = eta[j] * r;
    const Lanes<Real> x_own =
        select<Real>(allowed > depth, multiply_add<Real>(Real(0.5) * f, f, x + a[j]), Pivots<Real>::kImpossible);
    if constexpr (j == 0) {
      return larger<Real>(x, x_own);
    } else {
      Lanes<Real> v[j], J_left[j * (j + 1) / 2], eta_left[j];
      reduce<Real, j>(J, eta, r, f, v, J_left, eta_left);
      return larger<Real>(x, best_of_chain<Real, j, depth + 1>(J_left, eta_left, a, x_own, allowed));
    }
  }
}

}  // namespace gsc::cuda
