// One vector of data points through a tree, which all kernels have in common. With x_S the log weight of state S
//
//   r     a reference: the best log weight known beforehand; where a state turns out far better, its log weight
//   Z   = exp(-r) + outside + sum_S exp(x_S - r)        log sum = r + log Z
//
// and the tree's sums are divided by Z. A policy says where data points come from and where the moments go; i is a data
// point, l its lane. Lanes without a data point repeat the last one.
//
//   Gather(tree, l, i)                 its system into the lane
//   BestOutside(i)                     the best log weight of its states outside the tree, or 0
//   Outside(l, i, r)                   weighs these states relative to exp(r), returns their sum
//   Normalize(first, count, inverse)   has 1/Z of each lane for them
//   Take(tree, l, i, log_sum)          the moments in the lane
//   Undone(i)                          comes instead of Take() where log weights are too large for the precision;
//                                      with kTogether the whole vector is left undone, and nobody is told

#if defined(GSC_LANE_BATCH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_LANE_BATCH_INL_H_
#undef GSC_LANE_BATCH_INL_H_
#else
#define GSC_LANE_BATCH_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class Tree, class Policy>
class LaneBatch {
 public:
  LaneBatch(Tree& tree, Policy& policy) : tree_(tree), policy_(policy) {}

  /// Data points first .. end-1. Returns how many of them met a pivot that was lost to rounding. again(first, end) does
  /// a vector that was left undone, and returns the same.
  template <class Again>
  std::int64_t RunAll(size_t first, size_t end, const Again& again) {
    const size_t lanes = hn::Lanes(D());
    std::int64_t clamped = 0;
    for (; first < end; first += lanes) {
      const size_t count = std::min(lanes, end - first);
      const std::optional<std::int64_t> done = Run(first, count);
      clamped += done ? *done : again(first, first + count);
    }
    return clamped;
  }
  std::int64_t RunAll(size_t first, size_t end) {
    return RunAll(first, end, [](size_t, size_t) { return std::int64_t{0}; });
  }

 private:
  using T = typename Tree::T;
  using D = hn::ScalableTag<T>;
  static constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(T);
  /// Beyond this T cannot tell the differences of log weights. Double precision is the last resort.
  static constexpr double kRange = sizeof(T) == 8 ? std::numeric_limits<double>::infinity() : 1e4;
  static constexpr T kHeadroom = sizeof(T) == 8 ? 300 : 40;

  bool Beyond(size_t l) const { return reference_[l] > kRange; }
  bool AnyBeyond() const {
    return std::any_of(reference_, reference_ + hn::Lanes(D()), [](double r) { return r > kRange; });
  }

  std::optional<std::int64_t> Run(size_t first, size_t count) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    HWY_ALIGN T best[kLanes], shift[kLanes], mass[kLanes], factor[kLanes] = {}, lost[kLanes];
    const auto point = [&](size_t l) { return first + std::min(l, count - 1); };
    for (size_t l = 0; l < lanes; ++l) policy_.Gather(tree_, l, point(l));
    hn::Store(tree_.BestOfChain(), d, best);
    for (size_t l = 0; l < lanes; ++l)
      reference_[l] = std::max({0.0, static_cast<double>(best[l]), policy_.BestOutside(point(l))});
    do {
      if (Policy::kTogether && AnyBeyond()) return std::nullopt;
      for (size_t l = 0; l < lanes; ++l) shift[l] = static_cast<T>(-reference_[l]);
      hn::Store(tree_.Run(hn::Load(d, shift)), d, mass);
    } while (Raise());

    double inverse[kLanes] = {}, log_sums[kLanes] = {};
    for (size_t l = 0; l < count; ++l) {
      const double Z =
          std::exp(-reference_[l]) + policy_.Outside(l, first + l, reference_[l]) + static_cast<double>(mass[l]);
      inverse[l] = 1 / Z;
      factor[l] = static_cast<T>(inverse[l]);
      log_sums[l] = reference_[l] + std::log(Z);
    }
    tree_.Normalize(hn::Load(d, factor));
    policy_.Normalize(first, count, inverse);
    hn::Store(hn::IfThenElseZero(tree_.clamped, hn::Set(d, T{1})), d, lost);
    std::int64_t clamped = 0;
    for (size_t l = 0; l < count; ++l) {
      if (Beyond(l)) {
        policy_.Undone(first + l);
        continue;
      }
      clamped += lost[l] > 0 ? 1 : 0;
      policy_.Take(tree_, l, first + l, log_sums[l]);
    }
    return clamped;
  }

  /// A state far better than the reference would overflow: then its log weight, which is known now, is the reference.
  /// False if there is none.
  bool Raise() {
    HWY_ALIGN T max_x[kLanes];
    hn::Store(tree_.max_x, D(), max_x);
    bool raised = false;
    for (size_t l = 0; l < hn::Lanes(D()); ++l) {
      if (!(max_x[l] > kHeadroom) || Beyond(l)) continue;
      // By one step at least, or rounding could keep a huge reference where it is for ever. At infinity there is no
      // more step: the log sum becomes NaN, which fit() refuses.
      const double before = reference_[l];
      reference_[l] = std::max(before + static_cast<double>(max_x[l]), std::nextafter(before, INFINITY));
      raised |= reference_[l] > before;
    }
    return raised;
  }

  Tree& tree_;
  Policy& policy_;
  double reference_[kLanes];
};

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
