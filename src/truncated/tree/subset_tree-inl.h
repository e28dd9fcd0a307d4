// The E-step's heart for a diagonal slab: sums over all subsets of the candidates with at most max_active members,
// for as many data points at once as a vector has lanes.
//
//   J    H' x H'  G + diag(1/psi) on the candidates, scaled to a unit diagonal        (see prepared_model.h)
//   eta  H'       W'P y + mu/psi, scaled alike
//   a    H'       log prior odds and normalisation of each candidate
//
// Depth-first: a node is a subset and keeps the Schur complement of (J, eta) on the candidates that may still join.
// Candidates have positions H'-1 ... 0 and join in falling order, so the candidates remaining below a child at position
// j are 0 .. j-1: always a prefix, and the lower triangle of J, stored by rows, has the child's system in its first
// j(j+1)/2 entries. With r = 1/sqrt(J_jj) a child computes
//
//   f = eta_j r      v_k = J_jk r      J_kl -= v_k v_l      eta_k -= v_k f        k, l < j
//   log weight  x' = x + a_j + f^2/2,  and a factor g' = g r                      weight exp(x') g'
//
// which needs no logarithm. On the way back the same node turns the adjoints of its children's systems into those of
// its own (reverse-mode differentiation of log Z; m is the mass of the child's subtree, q = f r, u_k = v_k r). With
// Q = -2 dlogZ/dJ and e = dlogZ/deta, primes for the child's:
//
//   t_k = sum_l Q'_kl u_l             c = sum_k e'_k u_k
//   e_j = m q - c                     Q_jj = m (r^2 + q^2) + sum_k t_k u_k - 2 q c
//   Q_jk = q e'_k - t_k               Q_kl += Q'_kl      e_k += e'_k      s_j = m
//
// At the root e = <s.z>, Q = <(s.z)(s.z)'>, s = <s>, all times Z. Forward and backward are one recursion: the weights
// are taken relative to a reference log weight that the caller chose, so no pass over all states comes before. Subtrees
// with up to kUnrolled remaining candidates are straight-line code in registers.
//
// Data points with the same candidates share J, hence r and u of every node. For them (kShared) those come, in the
// order of the recursion, from a stream of numbers that was computed once (shared_tree.h) and only eta, weights and
// adjoints are left to do: no 1/sqrt, no Schur complement of J, and log r is part of the stream's offset, so that g
// is 1.

#if defined(GSC_SUBSET_TREE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_SUBSET_TREE_INL_H_
#undef GSC_SUBSET_TREE_INL_H_
#else
#define GSC_SUBSET_TREE_INL_H_
#endif

#include <hwy/highway.h>

#include "inference/simd_math-inl.h"
#include "truncated/tree/prepared_model.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Entry (row, col), col <= row, of a lower triangle stored by rows.
constexpr int Triangle(int row, int col) { return row * (row + 1) / 2 + col; }

template <class D, bool kShared = false>
class SubsetTree {
 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;

  /// A node's system on the candidates that may still join. J is null with kShared.
  struct System {
    const V *J, *eta;
  };
  /// Its adjoints.
  struct Adjoints {
    V *Q, *e, *s;
  };

  /// Vectors of scratch that Run() needs.
  static constexpr int ScratchVectors(int candidates, int max_active) {
    int total = 0;
    for (int level = 1; level < max_active; ++level)
      total += 2 * Triangle(candidates - level, 0) + 3 * (candidates - level);
    return total;
  }

  /// a: one vector per position. With kShared: null, and `stream` holds the numbers of all nodes.
  SubsetTree(const V* a, V* scratch, const T* stream = nullptr) : a_(a), scratch_(scratch), stream_(stream) {}

  /// `x` is minus the reference. Fills the adjoints and returns the mass of all non-empty subsets; max_x and min_pivot
  /// tell afterwards whether to trust it.
  V Run(int candidates, int max_active, System of, V x, Adjoints out) {
    const D d;
    max_x = x;
    min_pivot = hn::Set(d, T{1});
    return Node(candidates, max_active, of, x, hn::Set(d, T{1}), out, scratch_);
  }

  V max_x, min_pivot;

  /// Pivots below this are rounding errors of zero.
  static constexpr T kSmallestPivot = sizeof(T) == 8 ? static_cast<T>(1e-15) : static_cast<T>(1e-6);

 private:
  static constexpr int kUnrolled = 3;

  /// A child's own state. With kShared, f is eta_j itself and r is not needed.
  struct Step {
    V r, f, x, g, m, q, r2;
  };

  /// Adds candidate j with the given pivot and reduced eta to the state (x, g).
  HWY_INLINE Step Enter(int j, V pivot, V eta_j, V x, V g) {
    const D d;
    Step step;
    if constexpr (kShared) {
      const V f = hn::Mul(eta_j, Next());  // eta_j r / sqrt(2)
      step.r2 = Next();
      step.x = hn::MulAdd(f, f, hn::Add(x, Next()));
      step.f = eta_j;
      step.q = hn::Mul(eta_j, step.r2);
      step.m = FastExp(d, step.x);
    } else {
      min_pivot = hn::Min(min_pivot, pivot);
      step.r = ReciprocalSqrt(d, hn::Max(pivot, hn::Set(d, kSmallestPivot)));
      step.f = hn::Mul(eta_j, step.r);
      step.x = hn::MulAdd(hn::Mul(hn::Set(d, T{0.5}), step.f), step.f, hn::Add(x, a_[j]));
      step.g = hn::Mul(g, step.r);
      step.q = hn::Mul(step.f, step.r);
      step.r2 = hn::Mul(step.r, step.r);
      step.m = hn::Mul(FastExp(d, step.x), step.g);
    }
    max_x = hn::Max(max_x, step.x);
    return step;
  }
  HWY_INLINE Step Enter(int j, System of, V x, V g) {
    return Enter(j, kShared ? of.eta[j] : of.J[Triangle(j, j)], of.eta[j], x, g);
  }

  HWY_INLINE V Next() { return hn::Set(D(), *stream_++); }

  /// v_k from row j of J. With kShared: u_k; then eta_k - u_k eta_j is the same number.
  HWY_INLINE V Coupling(V J_jk, const Step& step) {
    if constexpr (kShared)
      return Next();
    else
      return hn::Mul(J_jk, step.r);
  }
  HWY_INLINE V CouplingToU(V coupling, const Step& step) {
    if constexpr (kShared)
      return coupling;
    else
      return hn::Mul(coupling, step.r);
  }

  /// m (r^2 + q^2)
  HWY_INLINE V OwnMoment(const Step& step) { return hn::Mul(step.m, hn::MulAdd(step.q, step.q, step.r2)); }

  /// Q_jj, e_j, s_j of a child whose t and c are known; returns its mass.
  HWY_INLINE V Leave(int j, const Step& step, V sum_tu, V c, Adjoints out) {
    out.Q[Triangle(j, j)] = hn::NegMulAdd(step.q, hn::Add(c, c), hn::Add(OwnMoment(step), sum_tu));
    out.e[j] = hn::MulSub(step.m, step.q, c);
    out.s[j] = step.m;
    return step.m;
  }

  /// Child j whose subtree is itself alone.
  HWY_INLINE V Leaf(int j, System of, V x, V g, Adjoints out) {
    const Step step = Enter(j, of, x, g);
    out.e[j] = hn::Mul(step.m, step.q);
    out.Q[Triangle(j, j)] = OwnMoment(step);
    out.s[j] = step.m;
    return step.m;
  }

  /// Child j with a subtree of depth G >= 0 below it, all sizes known at compile time, J..s possibly registers.
  /// kDiagonal: the parent knows that its off-diagonal adjoints vanish and does not read them.
  template <int j, int G, bool kDiagonal>
  HWY_INLINE V Child(System of, V x, V g, Adjoints out) {
    if constexpr (j == 0 || G == 0) {
      if constexpr (!kDiagonal)
        for (int k = 0; k < j; ++k) out.Q[Triangle(j, k)] = hn::Zero(D());
      return Leaf(j, of, x, g, out);
    } else {
      constexpr bool kLast = G == 1;  // the child's children are leaves: they need the diagonal only
      Step step = Enter(j, of, x, g);
      V u[j], sub_J[Triangle(j, 0)], sub_eta[j];
      for (int k = 0; k < j; ++k) {
        const V v = Coupling(kShared ? step.x : of.J[Triangle(j, k)], step);
        u[k] = v;
        if constexpr (!kShared) {
          for (int l = kLast ? k : 0; l <= k; ++l) sub_J[Triangle(k, l)] = hn::NegMulAdd(v, u[l], of.J[Triangle(k, l)]);
        }
        sub_eta[k] = hn::NegMulAdd(v, step.f, of.eta[k]);
      }
      V back_Q[Triangle(j, 0)], back_e[j], back_s[j];
      step.m = hn::Add(step.m, Children<0, j, G, kLast>({sub_J, sub_eta}, step.x, step.g, {back_Q, back_e, back_s}));
      V c, sum_tu;
      for (int k = 0; k < j; ++k) {
        u[k] = CouplingToU(u[k], step);
        c = k == 0 ? hn::Mul(back_e[0], u[0]) : hn::MulAdd(back_e[k], u[k], c);
        out.e[k] = hn::Add(out.e[k], back_e[k]);
        out.s[k] = hn::Add(out.s[k], back_s[k]);
      }
      for (int k = 0; k < j; ++k) {
        V t = hn::Mul(back_Q[Triangle(k, k)], u[k]);
        if constexpr (kLast) {
          out.Q[Triangle(k, k)] = hn::Add(out.Q[Triangle(k, k)], back_Q[Triangle(k, k)]);
        } else {
          for (int l = 0; l < j; ++l)
            if (l != k) t = hn::MulAdd(back_Q[l < k ? Triangle(k, l) : Triangle(l, k)], u[l], t);
          for (int l = 0; l <= k; ++l) out.Q[Triangle(k, l)] = hn::Add(out.Q[Triangle(k, l)], back_Q[Triangle(k, l)]);
        }
        sum_tu = k == 0 ? hn::Mul(t, u[0]) : hn::MulAdd(t, u[k], sum_tu);
        out.Q[Triangle(j, k)] = hn::MulSub(step.q, back_e[k], t);
      }
      return Leave(j, step, sum_tu, c, out);
    }
  }

  /// Children j .. N-1 of a node with N remaining candidates and G more levels.
  template <int j, int N, int G, bool kDiagonal>
  HWY_INLINE V Children(System of, V x, V g, Adjoints out) {
    constexpr int kDepth = (G - 1 < j) ? G - 1 : j;
    const V m = Child<j, kDepth, kDiagonal>(of, x, g, out);
    if constexpr (j + 1 < N)
      return hn::Add(m, Children<j + 1, N, G, kDiagonal>(of, x, g, out));
    else
      return m;
  }

  template <int j, int G>
  HWY_NOINLINE V UnrolledChild(System of, V x, V g, Adjoints out) {
    return Child<j, G, false>(of, x, g, out);
  }

  /// Child j whose children are all leaves: their system is diagonal, one loop goes down and back.
  HWY_NOINLINE V LastButOne(int j, System of, V x, V g, Adjoints out) {
    const D d;
    Step step = Enter(j, of, x, g);
    V c = hn::Zero(d), sum_tu = hn::Zero(d), mass = step.m;
    const T* couplings = stream_;
    if constexpr (kShared) stream_ += j;
    for (int k = 0; k < j; ++k) {
      const V v = kShared ? hn::Set(d, couplings[k]) : hn::Mul(of.J[Triangle(j, k)], step.r);
      const Step leaf = Enter(k, kShared ? v : hn::NegMulAdd(v, v, of.J[Triangle(k, k)]),
                              hn::NegMulAdd(v, step.f, of.eta[k]), step.x, step.g);
      const V u = CouplingToU(v, step), back_e = hn::Mul(leaf.m, leaf.q), back_Q = OwnMoment(leaf);
      const V t = hn::Mul(back_Q, u);
      c = hn::MulAdd(back_e, u, c);
      sum_tu = hn::MulAdd(t, u, sum_tu);
      out.Q[Triangle(j, k)] = hn::MulSub(step.q, back_e, t);
      out.Q[Triangle(k, k)] = hn::Add(out.Q[Triangle(k, k)], back_Q);
      out.e[k] = hn::Add(out.e[k], back_e);
      out.s[k] = hn::Add(out.s[k], leaf.m);
      mass = hn::Add(mass, leaf.m);
    }
    step.m = mass;
    return Leave(j, step, sum_tu, c, out);
  }

  /// Child j with its reduced system in scratch memory.
  HWY_NOINLINE V DeepChild(int j, int depth, System of, V x, V g, Adjoints out, V* scratch) {
    const D d;
    const int size = Triangle(j, 0);
    V* sub_J = scratch;
    V* back_Q = sub_J + size;
    V* sub_eta = back_Q + size;
    V* back_e = sub_eta + j;
    V* back_s = back_e + j;
    V u[kMaxCandidates], t[kMaxCandidates];

    Step step = Enter(j, of, x, g);
    for (int k = 0; k < j; ++k) {
      const V v = Coupling(kShared ? step.x : of.J[Triangle(j, k)], step);
      u[k] = v;
      if constexpr (!kShared)
        for (int l = 0; l <= k; ++l) sub_J[Triangle(k, l)] = hn::NegMulAdd(v, u[l], of.J[Triangle(k, l)]);
      sub_eta[k] = hn::NegMulAdd(v, step.f, of.eta[k]);
    }
    step.m = hn::Add(step.m, Node(j, depth, {sub_J, sub_eta}, step.x, step.g, {back_Q, back_e, back_s}, back_s + j));

    V c = hn::Zero(d), sum_tu = hn::Zero(d);
    for (int k = 0; k < j; ++k) {
      u[k] = CouplingToU(u[k], step);
      c = hn::MulAdd(back_e[k], u[k], c);
      out.e[k] = hn::Add(out.e[k], back_e[k]);
      out.s[k] = hn::Add(out.s[k], back_s[k]);
      V t_k = hn::Zero(d);
      const V u_k = u[k];
      for (int l = 0; l < k; ++l) {
        const V back = back_Q[Triangle(k, l)];
        t_k = hn::MulAdd(back, u[l], t_k);
        t[l] = hn::MulAdd(back, u_k, t[l]);
        out.Q[Triangle(k, l)] = hn::Add(out.Q[Triangle(k, l)], back);
      }
      const V back = back_Q[Triangle(k, k)];
      t[k] = hn::MulAdd(back, u_k, t_k);
      out.Q[Triangle(k, k)] = hn::Add(out.Q[Triangle(k, k)], back);
    }
    for (int k = 0; k < j; ++k) {
      sum_tu = hn::MulAdd(t[k], u[k], sum_tu);
      out.Q[Triangle(j, k)] = hn::MulSub(step.q, back_e[k], t[k]);
    }
    return Leave(j, step, sum_tu, c, out);
  }

  /// All children of a node with r remaining candidates and `depth` more levels; returns their mass. The first r(r+1)/2
  /// adjoints are written, not added to: child j is the first to touch row j.
  V Node(int r, int depth, System of, V x, V g, Adjoints out, V* scratch) {
    V mass = Leaf(0, of, x, g, out);
    if (depth == 1) {
      for (int j = 1; j < r; ++j) {
        for (int k = 0; k < j; ++k) out.Q[Triangle(j, k)] = hn::Zero(D());
        mass = hn::Add(mass, Leaf(j, of, x, g, out));
      }
      return mass;
    }
    if (r > 1) mass = hn::Add(mass, UnrolledChild<1, 1>(of, x, g, out));
    if (depth == 2) {
      if (r > 2) mass = hn::Add(mass, UnrolledChild<2, 1>(of, x, g, out));
      for (int j = 3; j < r; ++j) mass = hn::Add(mass, LastButOne(j, of, x, g, out));
      return mass;
    }
    if (r > 2) mass = hn::Add(mass, UnrolledChild<2, 2>(of, x, g, out));
    if (r > 3)
      mass = hn::Add(mass, depth == 3 ? UnrolledChild<3, 2>(of, x, g, out) : UnrolledChild<3, 3>(of, x, g, out));
    for (int j = kUnrolled + 1; j < r; ++j) mass = hn::Add(mass, DeepChild(j, depth - 1, of, x, g, out, scratch));
    return mass;
  }

  const V* a_;
  V* scratch_;
  const T* stream_;
};

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
