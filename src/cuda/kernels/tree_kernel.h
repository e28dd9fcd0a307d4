#pragma once
// The posterior of a data point on the states of its K candidates: one warp a data point.
//
// Candidates have positions K-1 .. 0, the most promising first. The five bits of a lane's number switch five of them on
// or off, so that 32 lanes have 32 systems left on the remaining ones, at most five, which each lane walks in registers
// (subset_walk.h). With more than ten candidates the first one or two are switched by a loop around all that.
//
//   K      1 .. 5     6 .. 10    11, 12
//   loop   -          -          first 1, 2
//   lanes  all K      first 5    next 5
//   walk   -          the rest   the last 5
//
// Sums over the lanes come out by exchanges in which every lane ends up with two or three of the K(K+1)/2 + 2K + 1
// totals (transposed_sums), and writes them.

#include <limits>

#include "cuda/kernels/subset_walk.h"

namespace gsc::cuda {

inline constexpr int kMaxCandidates = 12;

/// Moments of a data point: second moments as a lower triangle by positions, means, probabilities.
GSC_BOTH constexpr int moment_count(int candidates) { return triangle(candidates, 0) + 2 * candidates; }

/// Beyond this log weight float cannot tell states apart: such data points are left to double precision, with this mark
/// in place of their log sum.
template <class Real>
struct Range {
  static constexpr Real kLargest = sizeof(Real) == 8 ? std::numeric_limits<Real>::infinity() : static_cast<Real>(1e4);
  static constexpr Real kUndone = std::numeric_limits<Real>::infinity();
};

template <class Real>
struct TreeArguments {
  int stride;  ///< floats from row to row of J and of the data points' rows
  int max_active;
  const std::uint16_t* candidates;  ///< count x K, by position
  const Real* J;                    ///< H x stride
  const Real* a;                    ///< H
  const Real* eta_offset;           ///< H
  long own_step;                    ///< with priors of their own a is count x stride, so far from row to row; else 0
  const Real* tau;                  ///< count x stride; two of these multiply entries of J; else null
  const Real* best;                 ///< count; largest log weight of a latent alone
  const Real* outside;              ///< count; weights of those that are not candidates, relative to exp(best)
  Real* rows;                       ///< count x stride: eta without offset in, at the candidates means out
  Real* moments;                    ///< count x moment_count(K)
  Real* log_sums;                   ///< count
  std::uint32_t* clamped;           ///< count; 1 if a pivot was lost to rounding
  Real* probability;                ///< unless null, count x stride: at the candidates <s>
  Real* second_moment;              ///< unless null, count x stride: at the candidates <(s.z)^2>
};

template <class Real, int K>
struct TreeKernel {
  static constexpr int kWarps = 4, kBlocks = sizeof(Real) == 8 ? 1 : (K > 8 ? 3 : 4);
  static constexpr int kLooped = K > 10 ? K - 10 : 0;
  static constexpr int kSwitched = K < 5 ? K : 5;  // NOLINT(bugprone-branch-clone): of K = 5
  static constexpr int kWalked = K - kLooped - kSwitched;
  static constexpr int kPacked = K * (K + 1) / 2, kMoments = moment_count(K);
  static constexpr int kGroups = (kMoments + 1 + kLanes - 1) / kLanes;

  TreeArguments<Real> arguments;

  static std::size_t scratch_bytes() { return sizeof(Real) * static_cast<std::size_t>((kPacked + 2 * K + 3) / 4 * 4); }

  /// A lane's system after its switched candidates: rows of J from kWalked on hold u, their diagonal r, eta there q.
  struct System {
    Lanes<Real> J[kPacked], eta[K], a[kWalked > 0 ? kWalked : 1], x, g;
    Lanes<int> allowed;  // how many may still join
    Lanes<Real> min_pivot;
  };

  GSC_KERNEL Lanes<bool> switched_on(int c, int loop) const {
    if (c >= kWalked + kSwitched) return ((Lanes<int>(loop) >> (c - kWalked - kSwitched)) & 1) != 0;
    return ((lane_index() >> (c - kWalked)) & 1) != 0;
  }

  /// J, eta and a of the candidates into the warp's scratch.
  GSC_KERNEL void gather(long n, Real* J, Real* eta, Real* a) const {
    const TreeArguments<Real>& in = arguments;
    const std::uint16_t* candidates = in.candidates + n * K;
    const Lanes<int> lane = lane_index();
    GSC_UNROLL
    for (int first = 0; first < K * K; first += kLanes) {
      const Lanes<int> at = lane + first, row = at / K, col = at % K;
      const Lanes<bool> wanted = at < K * K && col <= row;
      const Lanes<int> from = convert<int>(load<std::uint16_t>(candidates, row, wanted, std::uint16_t{0}));
      const Lanes<int> to = convert<int>(load<std::uint16_t>(candidates, col, wanted, std::uint16_t{0}));
      Lanes<Real> value = load<Real>(in.J, from * in.stride + to, wanted, Real{0});
      if (in.tau != nullptr) {
        const Real* tau = in.tau + n * in.stride;
        const Lanes<Real> scaled =
            value * load<Real>(tau, from, wanted, Real{0}) * load<Real>(tau, to, wanted, Real{0});
        value = select<Real>(row == col, Real{1}, scaled);
      }
      store<Real>(J, row * (row + 1) / 2 + col, value, wanted);
    }
    const Lanes<bool> wanted = lane < K;
    const Lanes<int> latent = convert<int>(load<std::uint16_t>(candidates, lane, wanted, std::uint16_t{0}));
    const Lanes<Real> offset = load<Real>(in.eta_offset, latent, wanted, Real{0});
    store<Real>(eta, lane, load<Real>(in.rows + n * in.stride, latent, wanted, Real{0}) + offset, wanted);
    store<Real>(a, lane, load<Real>(in.a + n * in.own_step, latent, wanted, Real{0}), wanted);
    sync();
  }

  /// Each lane takes the candidates that its bits switch on. Log weights are less `base` from the beginning: those that
  /// count are small numbers then, and float has digits for what they differ by.
  GSC_KERNEL void prepare(const Real* J, const Real* eta, const Real* a, Real base, int loop, System& system) const {
    GSC_UNROLL
    for (int i = 0; i < kPacked; ++i) system.J[i] = J[i];
    GSC_UNROLL
    for (int i = 0; i < K; ++i) system.eta[i] = eta[i];
    GSC_UNROLL
    for (int i = 0; i < kWalked; ++i) system.a[i] = a[i];
    system.x = Real{0} - base;
    system.g = Real{1};
    system.min_pivot = Real{1};
    system.allowed = arguments.max_active;
    GSC_UNROLL
    for (int c = K - 1; c >= kWalked; --c) {
      const Lanes<bool> on = switched_on(c, loop);
      const Lanes<Real> pivot = system.J[triangle(c, c)];
      system.min_pivot = smaller<Real>(system.min_pivot, select<Real>(on, pivot, Real{1}));
      const Lanes<Real> root = inverse_root(larger<Real>(pivot, Pivots<Real>::kSmallest));
      const Lanes<Real> r = select<Real>(on, root, Real{0}), f = system.eta[c] * r;
      system.x = multiply_add<Real>(Real(0.5) * f, f, system.x + select<Real>(on, a[c], Real{0}));
      system.g = system.g * select<Real>(on, root, Real{1});
      system.allowed = system.allowed - select<int>(on, 1, 0);
      GSC_UNROLL
      for (int k = 0; k < c; ++k) system.J[triangle(c, k)] = system.J[triangle(c, k)] * r;
      GSC_UNROLL
      for (int k = 0; k < c; ++k) {
        const Lanes<Real> v = Real{0} - system.J[triangle(c, k)];
        system.eta[k] = multiply_add<Real>(v, f, system.eta[k]);
        GSC_UNROLL
        for (int l = 0; l <= k; ++l)
          system.J[triangle(k, l)] = multiply_add<Real>(v, system.J[triangle(c, l)], system.J[triangle(k, l)]);
      }
      GSC_UNROLL
      for (int k = 0; k < c; ++k) system.J[triangle(c, k)] = system.J[triangle(c, k)] * r;
      system.J[triangle(c, c)] = r;
      system.eta[c] = f * r;
    }
    Lanes<bool> possible = system.allowed >= 0;
    if constexpr (kSwitched < 5) possible = possible && lane_index() < (1 << kSwitched);
    system.x = select<Real>(possible, system.x, Pivots<Real>::kImpossible);
  }

  /// Sums over all states of the lane's system, as they go to transposed_sums: Q, e, s, mass.
  GSC_KERNEL void sums(const System& system, Real reference, int loop, Lanes<Real> (&values)[kGroups * kLanes],
                       Extremes<Real>& extremes) const {
    Lanes<Real>*Q = values, *e = values + kPacked, *s = e + K;
    const Lanes<Real> x = system.x - reference;
    extremes.max_x = larger<Real>(extremes.max_x, x);
    Lanes<Real> m = exponential(x) * system.g;
    if constexpr (kWalked > 0)
      m = m + Walk<Real, kWalked>::run(system.J, system.eta, system.a, x, system.g, system.allowed, Q, e, s, extremes);
    GSC_UNROLL
    for (int c = kWalked; c < K; ++c) {
      own_adjoints<Real>(c, m, system.J[triangle(c, c)], system.eta[c], system.J + triangle(c, 0), Q, e,
                         Q + triangle(c, 0), e[c]);
      s[c] = select<Real>(switched_on(c, loop), m, Real{0});
    }
    values[kMoments] = m;
    GSC_UNROLL
    for (int i = kMoments + 1; i < kGroups * kLanes; ++i) values[i] = Real{0};
  }

  GSC_KERNEL void add_totals(Lanes<Real> (&values)[kGroups * kLanes], Lanes<Real> (&totals)[kGroups]) const {
    GSC_UNROLL
    for (int group = 0; group < kGroups; ++group) {
      totals[group] = totals[group] + transposed_sums<Real>(values + group * kLanes);
    }
  }

  GSC_KERNEL Lanes<Real> chain(const System& system) const {
    return best_of_chain<Real, kWalked>(system.J, system.eta, system.a, system.x, system.allowed);
  }
  static GSC_KERNEL Real larger_of(Real one, Real other) { return one > other ? one : other; }

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long n = warp.index;
    Real *J = reinterpret_cast<Real*>(warp.scratch), *eta = J + kPacked, *a = eta + K;
    gather(n, J, eta, a);
    const Real best = arguments.best[n];
    const Real base = best > Real{0} ? best : Real{0};  // the empty state's log weight is 0
    Real reference = Real{0};                           // beyond base
    System system;
    if constexpr (kLooped > 0) {
      Lanes<Real> guess = Real{0};
      for (int loop = 0; loop < 1 << kLooped; ++loop) {
        prepare(J, eta, a, base, loop, system);
        guess = larger<Real>(guess, chain(system));
      }
      reference = larger_of(reference, warp_max<Real>(guess));
    }

    // A state far better than the reference would overflow: then its log weight, which is known now, is the reference.
    // It is rare, so the lanes' systems are made anew for it and need not be kept.
    constexpr Real kHeadroom = sizeof(Real) == 8 ? Real{300} : Real{40};
    Lanes<Real> totals[kGroups];
    bool clamped = false, undone = false, first_try = true;
    for (bool again = true; again;) {
      GSC_UNROLL
      for (int group = 0; group < kGroups; ++group) totals[group] = Real{0};
      Extremes<Real> extremes{Pivots<Real>::kImpossible, Real{1}};
      for (int loop = 0; loop < 1 << kLooped; ++loop) {
        prepare(J, eta, a, base, loop, system);
        if (kLooped == 0 && first_try) reference = larger_of(reference, warp_max<Real>(chain(system)));
        extremes.min_pivot = smaller<Real>(extremes.min_pivot, system.min_pivot);
        Lanes<Real> values[kGroups * kLanes];
        sums(system, reference, loop, values, extremes);
        add_totals(values, totals);
      }
      first_try = false;
      clamped = any(extremes.min_pivot < Pivots<Real>::kSmallest);
      const Real excess = warp_max<Real>(extremes.max_x);
      again = excess > kHeadroom && reference + excess > reference;
      if (again) reference = reference + excess;
      undone = !(base + reference <= Range<Real>::kLargest);
      again = again && !undone;
    }
    write(n, base, reference, totals, clamped, undone);
  }

  /// Normalises: Z = mass of the candidates' states + that of the latents outside, alone.
  GSC_KERNEL void write(long n, Real base, Real reference, Lanes<Real> (&totals)[kGroups], bool clamped,
                        bool undone) const {
    const TreeArguments<Real>& out = arguments;
    const Real mass = broadcast<Real>(totals[kMoments / kLanes], kMoments % kLanes);
    const Real Z = mass + out.outside[n] * first(exponential(Lanes<Real>(out.best[n] - base - reference)));
    const Real factor = undone ? Real{0} : Real{1} / Z;
    const Lanes<int> lane = lane_index();
    GSC_UNROLL
    for (int group = 0; group < kGroups; ++group) {
      const Lanes<int> at = lane + group * kLanes;
      const Lanes<Real> value = undone ? Lanes<Real>(Real{0}) : totals[group] * factor;
      store<Real>(out.moments + n * kMoments, at, value, at < kMoments);
      // The same lanes bring means, and what else is wanted, to the data point's rows.
      const Lanes<bool> is_mean = at >= kPacked && at < kPacked + K,
                        is_probability = at >= kPacked + K && at < kMoments;
      const Lanes<int> position = at - select<int>(is_mean, kPacked, kPacked + K);
      const Lanes<int> latent = convert<int>(
          load<std::uint16_t>(out.candidates + n * K, position, is_mean || is_probability, std::uint16_t{0}));
      store<Real>(out.rows + n * out.stride, latent, value, is_mean);
      if (out.probability != nullptr) store<Real>(out.probability + n * out.stride, latent, value, is_probability);
    }
    if (out.second_moment != nullptr) {
      sync();
      const Lanes<bool> wanted = lane < K;
      const Lanes<int> latent =
          convert<int>(load<std::uint16_t>(out.candidates + n * K, lane, wanted, std::uint16_t{0}));
      const Lanes<Real> value = load<Real>(out.moments + n * kMoments, lane * (lane + 1) / 2 + lane, wanted, Real{0});
      store<Real>(out.second_moment + n * out.stride, latent, value, wanted);
    }
    const Lanes<bool> writer = lane == 0;
    store<Real>(out.log_sums + n, lane, undone ? Range<Real>::kUndone : base + (reference + logarithm(Z)), writer);
    store<std::uint32_t>(out.clamped + n, lane, clamped ? 1U : 0U, writer);
  }
};

}  // namespace gsc::cuda
