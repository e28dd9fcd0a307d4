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

/// The 2 x 2 block (slab, data) x (slab, data) that couples two candidates.
template <class V>
struct Block2 {
  V e[2][2];
};
template <class V>
struct Pair2 {
  V e[2];
};

template <class D>
class FullSlabTree {
 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;
  using Block = Block2<V>;
  using Pair = Pair2<V>;

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

  V Child(int j, int depth, System system, V x, Adjoints adjoints, V* scratch) {
    const D d;
    const V half = hn::Set(d, T{0.5});
    const V smallest = hn::Set(d, kSmallestPivot);
    const Block& pivot = system.B[Triangle(j, j)];
    V p = pivot.e[0][0], g = hn::Neg(pivot.e[1][1]), v0 = system.v[j].e[0], v1 = system.v[j].e[1];
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
    const V inverse = hn::Div(hn::Set(d, T{1}), delta);
    const V K00 = hn::Mul(g, inverse), K01 = hn::Mul(c, inverse), K11 = hn::Neg(hn::Mul(p, inverse));
    const V kappa[2] = {hn::MulAdd(K00, v0, hn::Mul(K01, v1)), hn::MulAdd(K01, v0, hn::Mul(K11, v1))};
    const V quadratic = hn::MulAdd(v0, kappa[0], hn::Mul(v1, kappa[1]));
    const V x_child = hn::NegMulAdd(half, hn::Add(hn::Log(d, delta), quadratic), hn::Add(x, logit_[j]));
    max_x = hn::Max(max_x, x_child);
    V m = FastExp(d, x_child);

    // Down: the reduced system of the candidates below j, then its subtree.
    Pair w{{hn::Zero(d), hn::Zero(d)}};
    Block own{{{hn::Zero(d), hn::Zero(d)}, {hn::Zero(d), hn::Zero(d)}}};
    const bool inner = depth > 0 && j > 0;
    if (inner) {
      Block* sub_B = reinterpret_cast<Block*>(scratch);
      Block* back_B = sub_B + Triangle(j, 0);
      Pair* sub_v = reinterpret_cast<Pair*>(back_B + Triangle(j, 0));
      Pair* back_v = sub_v + j;
      Block* U_hat = reinterpret_cast<Block*>(back_v + j);
      V* back_s = reinterpret_cast<V*>(U_hat + j);
      V* back_ss = back_s + j;
      for (int k = 0; k < j; ++k) {
        const Block& U = system.B[Triangle(j, k)];  // stored as B_jk; B_kj is its transpose
        for (int a = 0; a < 2; ++a) {
          U_hat[k].e[a][0] = hn::MulAdd(U.e[0][a], K00, hn::Mul(U.e[1][a], K01));
          U_hat[k].e[a][1] = hn::MulAdd(U.e[0][a], K01, hn::Mul(U.e[1][a], K11));
          sub_v[k].e[a] = hn::NegMulAdd(U.e[0][a], kappa[0], hn::NegMulAdd(U.e[1][a], kappa[1], system.v[k].e[a]));
        }
        for (int l = 0; l <= k; ++l) {
          const Block& U_l = system.B[Triangle(j, l)];
          for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b)
              sub_B[Triangle(k, l)].e[a][b] =
                  hn::NegMulAdd(U_hat[k].e[a][0], U_l.e[0][b],
                                hn::NegMulAdd(U_hat[k].e[a][1], U_l.e[1][b], system.B[Triangle(k, l)].e[a][b]));
        }
      }
      m = hn::Add(m,
                  Node(j, depth, {sub_B, sub_v}, x_child, {back_B, back_v, back_s, back_ss}, back_ss + Triangle(j, 0)));

      // Back: adjoints of the child's system into those of this node's.
      for (int k = 0; k < j; ++k) {
        Block t{{{hn::Zero(d), hn::Zero(d)}, {hn::Zero(d), hn::Zero(d)}}};
        for (int l = 0; l < j; ++l)
          for (int a = 0; a < 2; ++a)
            for (int n = 0; n < 2; ++n) {
              const V back = l <= k ? back_B[Triangle(k, l)].e[a][n] : back_B[Triangle(l, k)].e[n][a];
              t.e[a][0] = hn::MulAdd(back, U_hat[l].e[n][0], t.e[a][0]);
              t.e[a][1] = hn::MulAdd(back, U_hat[l].e[n][1], t.e[a][1]);
            }
        for (int a = 0; a < 2; ++a) {
          for (int n = 0; n < 2; ++n) {
            w.e[a] = hn::MulAdd(U_hat[k].e[n][a], back_v[k].e[n], w.e[a]);
            for (int b = 0; b < 2; ++b) own.e[a][b] = hn::MulAdd(U_hat[k].e[n][a], t.e[n][b], own.e[a][b]);
            adjoints.B[Triangle(j, k)].e[n][a] =
                hn::Neg(hn::MulAdd(hn::Mul(half, back_v[k].e[a]), kappa[n], t.e[a][n]));
          }
          adjoints.v[k].e[a] = hn::Add(adjoints.v[k].e[a], back_v[k].e[a]);
        }
        adjoints.s[k] = hn::Add(adjoints.s[k], back_s[k]);
        adjoints.ss[Triangle(j, k)] = back_s[k];
        for (int l = 0; l <= k; ++l) {
          for (int a = 0; a < 2; ++a)
            for (int b = 0; b < 2; ++b) {
              V& target = adjoints.B[Triangle(k, l)].e[a][b];
              target = hn::Add(target, back_B[Triangle(k, l)].e[a][b]);
            }
          if (l < k) adjoints.ss[Triangle(k, l)] = hn::Add(adjoints.ss[Triangle(k, l)], back_ss[Triangle(k, l)]);
        }
      }
    } else {
      for (int k = 0; k < j; ++k) {
        adjoints.B[Triangle(j, k)] = own;  // zero
        adjoints.ss[Triangle(j, k)] = hn::Zero(d);
      }
    }

    const V half_m = hn::Mul(half, m);
    const V K[2][2] = {{K00, K01}, {K01, K11}};
    Block& result = adjoints.B[Triangle(j, j)];
    for (int a = 0; a < 2; ++a) {
      for (int b = 0; b < 2; ++b) {
        const V mixed = hn::Mul(half, hn::MulAdd(w.e[a], kappa[b], hn::Mul(w.e[b], kappa[a])));
        result.e[a][b] = hn::MulAdd(half_m, hn::MulSub(kappa[a], kappa[b], K[a][b]), hn::Add(mixed, own.e[a][b]));
      }
      adjoints.v[j].e[a] = hn::Neg(hn::MulAdd(m, kappa[a], w.e[a]));
    }
    adjoints.s[j] = m;
    return m;
  }

  const V* logit_;
  V* scratch_;
};

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
