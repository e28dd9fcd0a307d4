// The subset tree for a full slab. Psi_SS^-1 is not a submatrix of Psi^-1, so the tree works on the quasi-definite
//
//   B = [ Psi  -I ]     v = [ mu ]      log weight of S = sum logit pi - 1/2 log|det B_SS| - 1/2 v_S' B_SS^-1 v_S
//       [ -I   -G ]         [ b  ]      (S stands for S in both halves)
//
// and a child j pivots on the 2 x 2 block K^-1 = [p c; c -g] of its two rows, K = [g c; c -p]/delta, delta = p g + c^2
// > 0. Otherwise it is the recursion of subset_tree-inl.h with 2 x 2 blocks for numbers (U_k = B_kj, U^_k = U_k K,
// kappa = K v_j):
//
//   down   x' = x + logit pi_j - 1/2 log delta - 1/2 v_j'kappa     B'_kl = B_kl - U^_k U_l'     v'_k = v_k - U_k kappa
//   back   t_k = sum_l B~'_kl U^_l        w = sum_k U^_k' v~'_k
//          B~_jj = sum_k U^_k' t_k + (w kappa' + kappa w')/2 + (m/2)(kappa kappa' - K)
//          B~_kj = -t_k - v~'_k kappa'/2      v~_j = -m kappa - w      s_j = m      ss_jk = s'_k
//
// At the root, times Z:  v~ = (E[lambda], <s.z>),  B~ = (T/2, <(s.z)(s.z)'>/2) in its two diagonal quarters, ss = <s
// s'>.

#if defined(GSC_FULL_SLAB_TREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_FULL_SLAB_TREE_INL_H_
#undef GSC_FULL_SLAB_TREE_INL_H_
#else
#define GSC_FULL_SLAB_TREE_INL_H_
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "truncated/tree/subset_tree-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// A block of 2 x C numbers in each lane. In brackets the order of the sums, and so of rounding.
template <class V, int C>
struct Rows2 {
  V e[2][C];
};

template <class V, int C>
HWY_INLINE void SetZero(Rows2<V, C>& a) {
  for (auto& row : a.e)
    for (V& entry : row) entry = hn::Zero(hn::DFromV<V>());
}
template <class V>
HWY_INLINE Rows2<V, 2> Transposed(const Rows2<V, 2>& a) {
  return {{{a.e[0][0], a.e[1][0]}, {a.e[0][1], a.e[1][1]}}};
}
/// A B, [a0 b0 + (a1 b1)]
template <class V, int C>
HWY_INLINE Rows2<V, C> operator*(const Rows2<V, 2>& a, const Rows2<V, C>& b) {
  Rows2<V, C> product;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < C; ++k) product.e[i][k] = hn::MulAdd(a.e[i][0], b.e[0][k], hn::Mul(a.e[i][1], b.e[1][k]));
  return product;
}
template <class V, int C>
HWY_INLINE void operator+=(Rows2<V, C>& sum, const Rows2<V, C>& a) {
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < C; ++k) sum.e[i][k] = hn::Add(sum.e[i][k], a.e[i][k]);
}
/// sum += A B, [a1 b1 + (a0 b0 + sum)]
template <class V, int C>
HWY_INLINE void AddProduct(Rows2<V, C>& sum, const Rows2<V, 2>& a, const Rows2<V, C>& b) {
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 2; ++i)
      for (int k = 0; k < C; ++k) sum.e[i][k] = hn::MulAdd(a.e[i][n], b.e[n][k], sum.e[i][k]);
}
/// from - A B, [from - a1 b1 - (a0 b0)]
template <class V, int C>
HWY_INLINE Rows2<V, C> MinusProduct(const Rows2<V, C>& from, const Rows2<V, 2>& a, const Rows2<V, C>& b) {
  Rows2<V, C> rest;
  for (int i = 0; i < 2; ++i)
    for (int k = 0; k < C; ++k)
      rest.e[i][k] = hn::NegMulAdd(a.e[i][0], b.e[0][k], hn::NegMulAdd(a.e[i][1], b.e[1][k], from.e[i][k]));
  return rest;
}

template <class D>
class FullSlabTree {
 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;
  using Block = Rows2<V, 2>;  ///< (slab, data) x (slab, data): what couples two candidates
  using Pair = Rows2<V, 1>;

  /// A node's system, or its adjoints with s and ss: candidates at positions 0 .. r-1.
  struct System {
    Block* B;
    Pair* v;
  };
  struct Adjoints {
    Block* B;
    Pair* v;
    V* s;
    V* ss;  ///< entries (j, k), k < j, of a lower triangle
  };

  static constexpr int ScratchVectors(int candidates, int max_active) {
    int total = 0;
    for (int level = 1; level < max_active; ++level) total += VectorsPerLevel(candidates - level);
    return total;
  }
  static constexpr int VectorsPerLevel(int r) { return 9 * Triangle(r, 0) + 9 * r; }

  FullSlabTree(const V* logit, V* scratch) : logit_(logit), scratch_(scratch) {}

  V Run(int candidates, int max_active, System system, V x, Adjoints adjoints) {
    max_x = x;
    clamped = hn::FirstN(D(), 0);
    return Node(candidates, max_active, system, x, adjoints, scratch_);
  }

  V max_x;
  hn::Mask<D> clamped;  ///< lanes that met a pivot lost to rounding

 private:
  /// delta is at least the squared reduced c, which starts at 1.
  static constexpr T kSmallestPivot = sizeof(T) == 8 ? static_cast<T>(1e-15) : static_cast<T>(1e-6);

  V Node(int r, int depth, System system, V x, Adjoints adjoints, V* scratch) {
    V mass = hn::Zero(D());
    for (int j = 0; j < r; ++j) mass = hn::Add(mass, Child(j, depth - 1, system, x, adjoints, scratch));
    return mass;
  }

  /// What a child's pivot gives.
  struct Pivot {
    Block K;
    Pair kappa;
    V x;
  };

  /// x: with logit pi_j.
  HWY_INLINE Pivot Enter(const Block& pivot, const Pair& v, V x) {
    const D d;
    const V half = hn::Set(d, T{0.5});
    const V smallest = hn::Set(d, kSmallestPivot);
    V p = pivot.e[0][0], g = hn::Neg(pivot.e[1][1]), v0 = v.e[0][0], v1 = v.e[1][0];
    const V c = pivot.e[0][1], c2 = hn::Mul(c, c);
    V delta = hn::MulAdd(p, g, c2);
    const auto lost = hn::Lt(delta, hn::Max(hn::Mul(half, c2), smallest));
    if (HWY_UNLIKELY(!hn::AllFalse(d, lost))) {
      // p and g are Schur complements of covariances, and not negative. But of a g near zero only rounding may be left,
      // and where p is 1e16 (broad slab, next to no noise) a weight of any size would come of their product. What is
      // negative is zero then, and with it what it says of the mean.
      const V zero = hn::Zero(d);
      const auto lost_p = hn::And(lost, hn::Lt(p, zero)), lost_g = hn::And(lost, hn::Lt(g, zero));
      p = hn::IfThenZeroElse(lost_p, p);
      v0 = hn::IfThenZeroElse(lost_p, v0);
      g = hn::IfThenZeroElse(lost_g, g);
      v1 = hn::IfThenZeroElse(lost_g, v1);
      delta = hn::IfThenElse(lost, hn::Max(hn::MulAdd(p, g, c2), smallest), delta);
      clamped = hn::Or(clamped, lost);
    }
    const V inverse = hn::Div(hn::Set(d, T{1}), delta), off = hn::Mul(c, inverse);
    const Block K{{{hn::Mul(g, inverse), off}, {off, hn::Neg(hn::Mul(p, inverse))}}};
    const Pair kappa = K * Pair{{{v0}, {v1}}};
    const V quadratic = hn::MulAdd(v0, kappa.e[0][0], hn::Mul(v1, kappa.e[1][0]));
    x = hn::NegMulAdd(half, hn::Add(hn::Log(d, delta), quadratic), x);
    max_x = hn::Max(max_x, x);
    return {K, kappa, x};
  }

  V Child(int j, int depth, System system, V x, Adjoints adjoints, V* scratch) {
    const D d;
    const V half = hn::Set(d, T{0.5});
    const auto [K, kappa, x_child] = Enter(system.B[Triangle(j, j)], system.v[j], hn::Add(x, logit_[j]));
    V m = FastExp(d, x_child);
    Pair w;
    Block own;  // sum_k U^_k' t_k
    SetZero(w);
    SetZero(own);
    if (depth > 0 && j > 0) {
      Block* sub_B = reinterpret_cast<Block*>(scratch);
      Block* back_B = sub_B + Triangle(j, 0);
      Pair* sub_v = reinterpret_cast<Pair*>(back_B + Triangle(j, 0));
      Pair* back_v = sub_v + j;
      Block* U_hat = reinterpret_cast<Block*>(back_v + j);
      V* back_s = reinterpret_cast<V*>(U_hat + j);
      V* back_ss = back_s + j;
      for (int k = 0; k < j; ++k) {
        const Block U = Transposed(system.B[Triangle(j, k)]);  // B_kj; stored is B_jk
        U_hat[k] = U * K;
        sub_v[k] = MinusProduct(system.v[k], U, kappa);
        for (int l = 0; l <= k; ++l)
          sub_B[Triangle(k, l)] = MinusProduct(system.B[Triangle(k, l)], U_hat[k], system.B[Triangle(j, l)]);
      }
      m = hn::Add(m,
                  Node(j, depth, {sub_B, sub_v}, x_child, {back_B, back_v, back_s, back_ss}, back_ss + Triangle(j, 0)));

      for (int k = 0; k < j; ++k) {
        Block t;
        SetZero(t);
        for (int l = 0; l <= k; ++l) AddProduct(t, back_B[Triangle(k, l)], U_hat[l]);
        for (int l = k + 1; l < j; ++l) AddProduct(t, Transposed(back_B[Triangle(l, k)]), U_hat[l]);
        const Block U_hat_t = Transposed(U_hat[k]);
        AddProduct(w, U_hat_t, back_v[k]);
        AddProduct(own, U_hat_t, t);
        Block& of_pair = adjoints.B[Triangle(j, k)];  // B~_jk, transposed
        for (int a = 0; a < 2; ++a)
          for (int b = 0; b < 2; ++b)
            of_pair.e[b][a] = hn::Neg(hn::MulAdd(hn::Mul(half, back_v[k].e[a][0]), kappa.e[b][0], t.e[a][b]));
        adjoints.v[k] += back_v[k];
        adjoints.s[k] = hn::Add(adjoints.s[k], back_s[k]);
        adjoints.ss[Triangle(j, k)] = back_s[k];
        for (int l = 0; l <= k; ++l) adjoints.B[Triangle(k, l)] += back_B[Triangle(k, l)];
        for (int l = 0; l < k; ++l)
          adjoints.ss[Triangle(k, l)] = hn::Add(adjoints.ss[Triangle(k, l)], back_ss[Triangle(k, l)]);
      }
    } else {
      for (int k = 0; k < j; ++k) {
        SetZero(adjoints.B[Triangle(j, k)]);
        adjoints.ss[Triangle(j, k)] = hn::Zero(d);
      }
    }
    Leave(K, kappa, m, w, own, adjoints.B[Triangle(j, j)], adjoints.v[j]);
    adjoints.s[j] = m;
    return m;
  }

  /// B~_jj and v~_j.
  static HWY_INLINE void Leave(const Block& K, const Pair& kappa, V m, const Pair& w, const Block& own, Block& B,
                               Pair& v) {
    const V half = hn::Set(D(), T{0.5}), half_m = hn::Mul(half, m);
    for (int a = 0; a < 2; ++a) {
      const V kappa_a = kappa.e[a][0], w_a = w.e[a][0];
      for (int b = 0; b < 2; ++b) {
        const V mixed = hn::Mul(half, hn::MulAdd(w_a, kappa.e[b][0], hn::Mul(w.e[b][0], kappa_a)));
        B.e[a][b] = hn::MulAdd(half_m, hn::MulSub(kappa_a, kappa.e[b][0], K.e[a][b]), hn::Add(mixed, own.e[a][b]));
      }
      v.e[a][0] = hn::Neg(hn::MulAdd(m, kappa_a, w_a));
    }
  }

  const V* logit_;
  V* scratch_;
};

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
