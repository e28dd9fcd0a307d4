#pragma once
// Which latents may be active together, for each data point: the rules of truncated/tree/candidates-inl.h, one warp a data
// point. Lane l looks after the latents l, l + 32, l + 64, ...: kHeld of them in registers, or all in memory (kHeld 0).
//
//   singleton     the K best of   score_offset_h + eta_h^2/2
//   conditional   half of them so; then repeatedly the best given those picked: the same with J_hh = d and eta_h = e
//                 reduced by the picks,   score_offset_h - 1/2 log d + e^2/(2 d).  Pick k leaves a column of J's
//                 Cholesky factor, kept in the warp's shared memory or, for many latents, in a piece of the device's.
//
// The same warp weighs the latents that are not chosen, each active alone: best = max_h (a_h + eta_h^2/2) and
// outside = sum over those of exp(a_h + eta_h^2/2 - best).

#include <limits>

#include "cuda/queue/warp.h"

namespace gsc::cuda {

template <class Real>
struct SelectArguments {
  int latents, stride;  ///< H; stride: the next multiple of 32, and what rows of all matrices have
  int candidates;       ///< K
  bool conditional;
  long count;                 ///< data points
  const Real* rows;           ///< count x stride; eta without its offset
  const Real* eta_offset;     ///< stride
  const Real* a;              ///< stride; very low from H on
  const float* score_offset;  ///< stride
  const float* J;             ///< H x stride
  /// With priors of their own: a and score_offset are count x stride, so far from row to row, and entries of J are to
  /// be multiplied by two of these (own_prior_kernel.h). Else 0 and null.
  long own_step;
  const Real* tau;
  std::uint16_t* chosen;  ///< count x K, by position: the most promising last
  Real *best, *outside;   ///< count
  /// (count/32) x stride: bit n % 32 of the entry (n / 32, h) says that h is a candidate of n. Zero before.
  std::uint32_t* members;
  float* memory;  ///< unless null, this instead of shared memory: SelectKernel::memory_floats() for each warp
};

/// A float for each latent of a lane: in registers, or in memory.
template <int kHeld>
struct LaneRow {
  Lanes<float> values[kHeld];
  GSC_KERNEL void place(float*) {}
  GSC_KERNEL Lanes<float> get(int i) const { return values[i]; }
  GSC_KERNEL void put(int i, Lanes<float> value) { values[i] = value; }
};
template <>
struct LaneRow<0> {
  float* values;
  GSC_KERNEL void place(float* memory) { values = memory; }
  GSC_KERNEL Lanes<float> get(int i) const { return load<float>(values, lane_index() + i * kLanes); }
  GSC_KERNEL void put(int i, Lanes<float> value) { store<float>(values, lane_index() + i * kLanes, value); }
};

template <class Real, int kHeld>
struct SelectKernel {
  static constexpr int kWarps = 4, kBlocks = kHeld > 8 || sizeof(Real) == 8 ? 4 : 8;
  /// Latents of a lane in one go over the factor.
  static constexpr int kAtOnce = kHeld > 0 && kHeld < 8 ? kHeld : 8;  // NOLINT(bugprone-branch-clone)
  static constexpr float kTaken = -std::numeric_limits<float>::infinity();
  static constexpr float kFloor = 1e-6F;  // of reduced pivots
  static constexpr float kLowest = -1e29F, kHighest = 3e38F;

  SelectArguments<Real> arguments;

  struct Point {
    LaneRow<kHeld> score, e, d;
    float* factor;
  };

  /// How many latents a lane has.
  GSC_KERNEL int held() const {
    if constexpr (kHeld > 0) return kHeld;
    return arguments.stride / kLanes;
  }
  GSC_KERNEL Lanes<int> latent(int i) const { return lane_index() + i * kLanes; }

  GSC_KERNEL Lanes<Real> eta(long n, Lanes<int> h, Lanes<bool> exists) const {
    const Lanes<Real> without = load<Real>(arguments.rows + n * arguments.stride, h, exists, Real{0});
    return without + load<Real>(arguments.eta_offset, h, exists, Real{0});
  }

  /// Scores beyond the range of float, or NaN from them, rank below all others.
  GSC_KERNEL Lanes<float> ranked(Lanes<float> score, Lanes<bool> exists) const {
    const Lanes<float> kept = select<float>(score > kLowest, smaller<float>(score, kHighest), kLowest);
    return select<float>(exists, kept, kTaken);
  }

  /// Scores of each latent alone; returns the largest log weight.
  GSC_KERNEL Real start(long n, Point& point) const {
    Lanes<Real> top = Real(-1e30);
    GSC_UNROLL
    for (int i = 0; i < held(); ++i) {
      const Lanes<int> h = latent(i);
      const Lanes<bool> exists = h < arguments.latents;
      const Lanes<Real> exact = eta(n, h, exists);
      const Lanes<Real> a = load<Real>(arguments.a + n * arguments.own_step, h, exists, Real(-1e30));
      top = larger<Real>(top, multiply_add<Real>(Real(0.5) * exact, exact, a));
      const Lanes<float> e = convert<float>(exact),
                         offset = load<float>(arguments.score_offset + n * arguments.own_step, h, exists, 0.0F);
      if (arguments.conditional) {
        point.e.put(i, e);
        point.d.put(i, 1.0F);
      }
      // Where all are candidates there is nothing to choose: in their order.
      const Lanes<float> score = arguments.candidates == arguments.latents ? Lanes<float>(0.0F) - convert<float>(h)
                                                                           : multiply_add<float>(0.5F * e, e, offset);
      point.score.put(i, ranked(score, exists));
    }
    return warp_max<Real>(top);
  }

  /// The best latent, the first of equal ones, which is then out of the race.
  GSC_KERNEL int pick(Point& point) const {
    Lanes<float> top = kTaken;
    Lanes<int> at = 0;
    GSC_UNROLL
    for (int i = 0; i < held(); ++i) {
      const Lanes<float> score = point.score.get(i);
      const Lanes<bool> better = score > top;
      top = select<float>(better, score, top);
      at = select<int>(better, latent(i), at);
    }
    const float best = warp_largest(top);
    const int winner = warp_min(select<int>(top == best, at, std::numeric_limits<int>::max()));
    GSC_UNROLL
    for (int i = 0; i < held(); ++i) point.score.put(i, select<float>(latent(i) == winner, kTaken, point.score.get(i)));
    return winner;
  }

  /// The value of one latent.
  GSC_KERNEL float of(const LaneRow<kHeld>& row, int h) const {
    if constexpr (kHeld == 0) return row.values[h];
    Lanes<float> value = 0.0F;
    GSC_UNROLL
    for (int i = 0; i < kHeld; ++i) value = select<float>(Lanes<bool>(h / kLanes == i), row.get(i), value);
    return broadcast<float>(value, h % kLanes);
  }

  /// Column k of the factor, of pick k, and what it leaves of d, e and, if wanted, the scores.
  GSC_KERNEL void eliminate(long n, Point& point, int k, int picked, bool rescore) const {
    const int stride = arguments.stride;
    const float pivot = of(point.d, picked);
    const float r = first(inverse_root(larger<float>(Lanes<float>(pivot), kFloor)));
    const float f = of(point.e, picked) * r;
    if constexpr (kHeld == 0) sync();  // these two are in memory that lanes write below
    const float* row = arguments.J + static_cast<long>(picked) * stride;
    float* column = point.factor + static_cast<long>(k) * stride;
    GSC_UNROLL
    for (int base = 0; base < held(); base += kAtOnce) {
      Lanes<float> c[kAtOnce];
      GSC_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const Lanes<int> h = latent(base + i);
        c[i] = load<float>(row, h, h < stride, 0.0F);
        if (arguments.tau != nullptr) {
          const Real* tau = arguments.tau + n * stride;
          c[i] = c[i] * convert<float>(load<Real>(tau, h, h < stride, Real{0}) * Lanes<Real>(tau[picked]));
        }
      }
      for (int q = 0; q < k; ++q) {
        const float* earlier = point.factor + static_cast<long>(q) * stride;
        const float entry = 0.0F - load<float>(earlier, picked);
        GSC_UNROLL
        for (int i = 0; i < kAtOnce; ++i) {
          const Lanes<int> h = latent(base + i);
          c[i] = multiply_add<float>(load<float>(earlier, h, h < stride, 0.0F), entry, c[i]);
        }
      }
      GSC_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        if (base + i >= held()) continue;
        const Lanes<int> h = latent(base + i);
        const Lanes<float> entry = c[i] * r;
        store<float>(column, h, entry, h < stride);
        const Lanes<float> d = multiply_add<float>(0.0F - entry, entry, point.d.get(base + i));
        const Lanes<float> e = multiply_add<float>(0.0F - entry, Lanes<float>(f), point.e.get(base + i));
        point.d.put(base + i, d);
        point.e.put(base + i, e);
        if (!rescore) continue;
        const Lanes<float> offset = load<float>(arguments.score_offset + n * arguments.own_step, h, h < stride, 0.0F);
        const Lanes<float> kept = larger<float>(d, kFloor);
        const Lanes<float> gain = multiply_add<float>(0.5F * e, quotient(e, kept), -0.5F * rough_logarithm(kept));
        const Lanes<float> old = point.score.get(base + i);
        point.score.put(base + i, select<float>(old == kTaken, kTaken, ranked(offset + gain, h < stride)));
      }
    }
    sync();
  }

  GSC_KERNEL void choose(long n, Point& point) const {
    const int K = arguments.candidates;
    const bool conditional = arguments.conditional && K < arguments.latents;
    const int alone = conditional ? (K + 1) / 2 : K;
    const Lanes<int> lane = lane_index();
    Lanes<int> chosen = 0;  // lane k has pick k
    for (int k = 0; k < alone; ++k) chosen = select<int>(lane == k, pick(point), chosen);
    if (conditional) {
      for (int k = 0; k + 1 < alone; ++k) eliminate(n, point, k, broadcast<int>(chosen, k), false);
      for (int k = alone; k < K; ++k) {
        eliminate(n, point, k - 1, broadcast<int>(chosen, k - 1), true);
        chosen = select<int>(lane == k, pick(point), chosen);
      }
    }
    const Lanes<bool> wanted = lane < K;
    store<std::uint16_t>(arguments.chosen + n * K, Lanes<int>(K - 1) - lane, convert<std::uint16_t>(chosen), wanted);
    atomic_or(arguments.members + n / kLanes * arguments.stride, chosen, bit(static_cast<int>(n % kLanes)), wanted);
  }

  GSC_KERNEL Real weigh_outside(long n, const Point& point, Real best) const {
    Lanes<Real> sum = Real{0};
    GSC_UNROLL
    for (int i = 0; i < held(); ++i) {
      const Lanes<int> h = latent(i);
      const Lanes<bool> exists = h < arguments.latents;
      const Lanes<Real> exact = eta(n, h, exists);
      const Lanes<Real> a = load<Real>(arguments.a + n * arguments.own_step, h, exists, Real(-1e30));
      const Lanes<Real> weight = exponential(multiply_add<Real>(Real(0.5) * exact, exact, a - best));
      sum = sum + select<Real>(point.score.get(i) == kTaken, Real{0}, weight);
    }
    return warp_sum<Real>(sum);
  }

  GSC_KERNEL void operator()(const Warp& warp) const {
    float* memory = reinterpret_cast<float*>(warp.scratch);
    if (arguments.memory != nullptr)
      memory = arguments.memory + static_cast<std::size_t>(warp.index) *
                                      memory_floats(arguments.stride, arguments.candidates, arguments.conditional);
    Point point;
    point.score.place(memory);
    point.e.place(memory + arguments.stride);  // these two only if conditional
    point.d.place(memory + 2 * arguments.stride);
    point.factor = memory + (kHeld > 0 ? 0 : 3 * arguments.stride);
    const Lanes<bool> writer = lane_index() == 0;
    for (long n = warp.index; n < arguments.count; n += warp.count) {
      const Real best = start(n, point);
      sync();
      choose(n, point);
      const Real outside = arguments.candidates == arguments.latents ? Real{0} : weigh_outside(n, point, best);
      store<Real>(arguments.best + n, lane_index(), best, writer);
      store<Real>(arguments.outside + n, lane_index(), outside, writer);
      sync();
    }
  }

  /// Of scratch, for a warp.
  static GSC_BOTH std::size_t memory_floats(int stride, int candidates, bool conditional) {
    const int columns = conditional ? candidates - 1 : 0;
    return static_cast<std::size_t>(columns + (kHeld > 0 ? 0 : conditional ? 3 : 1)) * static_cast<std::size_t>(stride);
  }
};

}  // namespace gsc::cuda
