#include "truncated/gaps/gap_kernel.h"

#include "inference/simd_targets.h"
#include "math/aligned.h"
#include "truncated/tree/raised_reference.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "truncated/gaps/gap_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "truncated/gaps/gap_systems-inl.h"
#include "truncated/tree/lane_trees-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Up to kGapRows data points.
template <class D, class Lanes>
class GapBatch {
 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;

  GapBatch(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace)
      : model_(model), block_(block), work_(workspace), tree_(model, reinterpret_cast<V*>(workspace.tree.get())) {}

  /// Data points first .. first + count - 1 of the block, whose systems are at `from` in the workspace; count at most
  /// the number of lanes. False, with nothing done, if log weights are too large for T to tell their differences.
  bool Run(Index first, Index from, size_t count) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    HWY_ALIGN T shift[kLanes], mass[kLanes], max_x[kLanes], factor[kLanes];
    double reference[kLanes], inverse_Z[kLanes] = {};
    const auto point = [&](size_t l) { return static_cast<Index>(std::min(l, count - 1)); };  // idle: the last again
    for (size_t l = 0; l < lanes; ++l) {
      const Index at = (from + point(l)) * model_.candidates;
      const std::uint16_t* candidates = block_.candidates + (first + point(l)) * model_.candidates;
      std::reverse_copy(candidates, candidates + model_.candidates, latents_[l]);
      tree_.GatherSystem(l, latents_[l], work_.system.data() + (from + point(l)) * Triangle(model_.candidates, 0),
                         work_.eta.data() + at, work_.a.data() + at);
    }
    hn::Store(tree_.BestOfChain(), d, max_x);
    for (size_t l = 0; l < lanes; ++l) {
      const double* log_weights = work_.log_weights.data() + (from + point(l)) * model_.padded;
      reference[l] = std::max({0.0, static_cast<double>(max_x[l]), Largest(log_weights)});
      if (reference[l] > kRange) return false;
    }

    // A state far better than the reference would overflow: then its log weight, which is known now, is the reference.
    constexpr T kHeadroom = sizeof(T) == 8 ? 300 : 40;
    for (bool again = true; again;) {
      for (size_t l = 0; l < lanes; ++l) shift[l] = static_cast<T>(-reference[l]);
      hn::Store(tree_.Run(hn::Load(d, shift)), d, mass);
      hn::Store(tree_.max_x, d, max_x);
      again = false;
      for (size_t l = 0; l < lanes; ++l)
        if (max_x[l] > kHeadroom) {
          const double raised = raised_reference(reference[l], static_cast<double>(max_x[l]));
          again |= raised > reference[l];
          reference[l] = raised;
          if (reference[l] > kRange) return false;
        }
    }
    if (block_.sums != nullptr)
      block_.sums->clamped_pivots +=
          static_cast<std::int64_t>(hn::CountTrue(d, hn::And(tree_.clamped, hn::FirstN(d, count))));

    for (size_t l = 0; l < lanes; ++l) {
      const double outside = l < count ? Weigh(l, from + point(l), first + point(l), reference[l]) : 0;
      const double Z = std::exp(-reference[l]) + outside + static_cast<double>(mass[l]);
      inverse_Z[l] = 1 / Z;
      factor[l] = l < count ? static_cast<T>(inverse_Z[l]) : T{0};
      if (l < count) block_.log_sums[first + point(l)] = reference[l] + std::log(Z);
    }
    tree_.Normalize(hn::Load(d, factor));
    Singletons(first, count, inverse_Z);
    for (size_t l = 0; l < count; ++l) Scatter(l, first + point(l), from + point(l));
    return true;
  }

 private:
  using Double = hn::ScalableTag<double>;
  using W = hn::Vec<Double>;
  static constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(T);
  /// Double precision is the last resort: it has nobody to pass a data point on to.
  static constexpr double kRange = sizeof(T) == 8 ? std::numeric_limits<double>::infinity() : 1e4;

  double* Weights(size_t lane) const { return work_.singletons.get() + lane * static_cast<size_t>(model_.padded); }

  double Largest(const double* log_weights) const {
    const Double d;
    W best = hn::Set(d, -INFINITY);
    for (size_t h = 0; h < static_cast<size_t>(model_.padded); h += hn::Lanes(d))
      best = hn::Max(best, hn::LoadU(d, log_weights + h));
    return hn::GetLane(hn::MaxOfLanes(d, best));
  }

  /// Weights of the singletons relative to exp(reference), zero for the candidates; returns their sum.
  double Weigh(size_t lane, Index from, Index n, double reference) {
    const Double d;
    const double* log_weights = work_.log_weights.data() + from * model_.padded;
    double* weights = Weights(lane);
    const auto padded = static_cast<size_t>(model_.padded);
    const W shift = hn::Set(d, reference);
    for (size_t h = 0; h < padded; h += hn::Lanes(d))
      hn::Store(FastExp(d, hn::Sub(hn::LoadU(d, log_weights + h), shift)), d, weights + h);
    const std::uint16_t* candidates = block_.candidates + n * model_.candidates;
    for (int i = 0; i < model_.candidates; ++i) weights[candidates[i]] = 0;
    W sum = hn::Zero(d);
    for (size_t h = 0; h < padded; h += hn::Lanes(d)) sum = hn::Add(sum, hn::Load(d, weights + h));
    return hn::GetLane(hn::SumOfLanes(d, sum));
  }

  /// Normalises the singletons and turns eta and J^_hh of each data point into means and second moments:
  ///   p eta/J    p (1/J + (eta/J)^2)
  void Singletons(Index first, size_t count, const double* factors) {
    const Double d;
    const W one = hn::Set(d, 1.0);
    const auto padded = static_cast<size_t>(model_.padded);
    for (size_t h = 0; h < padded; h += hn::Lanes(d)) {
      W s = hn::Zero(d), m = hn::Zero(d), ZZ = hn::Zero(d);
      for (size_t l = 0; l < count; ++l) {
        const size_t at = (static_cast<size_t>(first) + l) * padded + h;
        const W variance = hn::Div(one, hn::LoadU(d, block_.second_moment + at));
        const W z = hn::Mul(hn::LoadU(d, block_.rows + at), variance);
        const W p = hn::Mul(hn::Load(d, Weights(l) + h), hn::Set(d, factors[l])), mean = hn::Mul(p, z);
        const W second = hn::Mul(p, hn::MulAdd(z, z, variance));
        hn::Store(p, d, Weights(l) + h);
        hn::StoreU(mean, d, block_.rows + at);
        hn::StoreU(second, d, block_.second_moment + at);
        s = hn::Add(s, p);
        m = hn::Add(m, mean);
        ZZ = hn::Add(ZZ, second);
      }
      if (block_.sums == nullptr) continue;
      Add(block_.sums->single_s.data() + h, s);
      Add(block_.sums->single_m.data() + h, m);
      Add(block_.sums->single_ZZ.data() + h, ZZ);
    }
  }
  static HWY_INLINE void Add(double* target, W value) {
    hn::StoreU(hn::Add(hn::LoadU(Double(), target), value), Double(), target);
  }

  void Scatter(size_t l, Index n, Index from) {
    const int size = model_.candidates;
    double* row = block_.rows + n * model_.padded;
    double* second_moment = block_.second_moment + n * model_.padded;
    double* probability = block_.probability == nullptr ? nullptr : block_.probability + n * model_.latents;
    const double* unit = work_.own_unit.data() + from * size;
    double* products = block_.products == nullptr ? nullptr : block_.products->products + n * Triangle(size, 0);
    if (block_.products != nullptr) std::copy_n(latents_[l], size, block_.products->candidates + n * size);
    if (probability != nullptr) std::copy_n(Weights(l), model_.latents, probability);
    for (int p = 0; p < size; ++p) {
      const Index h = latents_[l][p];
      row[h] = unit[p] * tree_.Mean(p, l);
      second_moment[h] = unit[p] * unit[p] * tree_.SecondMoment(p, l);
      if (probability != nullptr) probability[h] = tree_.Probability(p, l);
      if (block_.sums != nullptr) {
        block_.sums->s[h] += tree_.Probability(p, l);
        block_.sums->m[h] += row[h];
      }
      if (products != nullptr || (block_.sums != nullptr && !model_.full_slab))
        for (int q = 0; q <= p; ++q) {
          const double product = unit[p] * unit[q] * tree_.Product(p, q, l);
          if (products != nullptr) *products++ = product;
          if (block_.sums != nullptr && !model_.full_slab) AddSymmetric(block_.sums->ZZ, h, latents_[l][q], product);
        }
    }
    if (block_.sums != nullptr && model_.full_slab) tree_.AddProducts(l, latents_[l], *block_.sums);  // unit is 1
  }

  const PreparedModel& model_;
  const GapBlock& block_;
  GapWorkspace& work_;
  Lanes tree_;
  std::uint16_t latents_[kLanes][kMaxCandidates];  // by position
};

/// Adds what the prior says to a data point's eta and J^_hh, in place, and weighs its singletons.
void Complete(const PreparedModel& model, double* eta, double* diagonal, double* log_weights) {
  const hn::ScalableTag<double> d;
  const auto half = hn::Set(d, 0.5);
  for (size_t h = 0; h < static_cast<size_t>(model.padded); h += hn::Lanes(d)) {
    const auto e = hn::Add(hn::LoadU(d, eta + h), hn::LoadU(d, model.eta_offset.data() + h));
    const auto J = hn::Add(hn::LoadU(d, diagonal + h), hn::LoadU(d, model.gaps->slab_precision.data() + h));
    hn::StoreU(e, d, eta + h);
    hn::StoreU(J, d, diagonal + h);
    const auto twice = hn::Sub(hn::Div(hn::Mul(e, e), J), hn::Log(d, J));
    hn::StoreU(hn::MulAdd(half, twice, hn::LoadU(d, model.a.data() + h)), d, log_weights + h);
  }
}

template <class T, template <class> class Lanes>
void RunGaps(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace, Index first, Index count) {
  using D = hn::ScalableTag<T>;
  using Double = hn::ScalableTag<double>;
  const auto lanes = static_cast<Index>(hn::Lanes(D()));
  GapBatch<D, Lanes<D>> batch(model, block, workspace);
  for (Index from = 0; from < count; from += lanes) {
    const Index size = std::min(lanes, count - from);
    if (batch.Run(first + from, from, static_cast<size_t>(size))) continue;
    const auto step = static_cast<Index>(hn::Lanes(Double()));
    GapBatch<Double, Lanes<Double>> in_double(model, block, workspace);
    for (Index n = from; n < from + size; n += step)
      in_double.Run(first + n, n, static_cast<size_t>(std::min(step, from + size - n)));
  }
}

void ProcessGapBlock(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace) {
  const bool single = model.precision == Precision::single_precision;
  const Index D = model.dimensions;
  for (Index first = 0; first < block.count; first += kGapRows) {
    const Index count = std::min(kGapRows, block.count - first);
    std::uint16_t* candidates = block.candidates + first * model.candidates;
    const double* observed = block.observed + first * D;
    GapSelection selection(model, workspace, block.shared);
    const bool any_outside = model.candidates < model.latents;
    for (Index n = 0; n < count; ++n) {
      double* eta = block.rows + (first + n) * model.padded;
      double* diagonal = block.second_moment + (first + n) * model.padded;
      Complete(model, eta, diagonal, workspace.log_weights.data() + n * model.padded);
      if (any_outside)
        selection.Of(n).Start(diagonal, eta);
      else
        std::iota(candidates + n * model.candidates, candidates + (n + 1) * model.candidates, std::uint16_t{0});
    }
    if (any_outside) selection.Choose(count, observed, candidates);
    for (Index n = 0; n < count; ++n)
      OwnSystem(model, observed + n * D, candidates + n * model.candidates, n, workspace, block.shared, [&](Index h) {
        const Index at = (first + n) * model.padded + h;
        return OnLatent{block.second_moment[at], block.rows[at], model.a[h]};
      });
    if (model.full_slab)
      (single ? RunGaps<float, FullSlabLanes> : RunGaps<double, FullSlabLanes>)(model, block, workspace, first, count);
    else
      (single ? RunGaps<float, DiagonalSlabLanes> : RunGaps<double, DiagonalSlabLanes>)(model, block, workspace, first,
                                                                                        count);
  }
}

/// Bytes of the tree's vectors for this target.
size_t GapTreeBytes(const PreparedModel& model) {
  using Double = hn::ScalableTag<double>;
  const Index vectors = model.full_slab ? FullSlabLanes<Double>::BufferVectors(model.candidates, model.max_active)
                                        : DiagonalSlabLanes<Double>::BufferVectors(model.candidates, model.max_active);
  return static_cast<size_t>(vectors) * sizeof(hn::Vec<Double>);
}

size_t GapSelectionFloats(const PreparedModel& model) {
  return static_cast<size_t>(kGapRows * CandidateSelector::ScratchFloats(model.padded, model.candidates));
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(ProcessGapBlock);
HWY_EXPORT(GapTreeBytes);
HWY_EXPORT(GapSelectionFloats);

GapWorkspace::GapWorkspace(const PreparedModel& model)
    : system(static_cast<size_t>(kGapRows * model.candidates * (model.candidates + 1) / 2)),
      eta(static_cast<size_t>(kGapRows * model.candidates)),
      a(eta.size()),
      own_unit(eta.size()),
      log_weights(static_cast<size_t>(kGapRows * model.padded)),
      scratch(static_cast<size_t>(model.dimensions)),
      picks(kGapRows * ((model.candidates + 1) / 2), model.dimensions),
      columns(picks.rows(), model.padded),
      selection(aligned<float>(HWY_DYNAMIC_DISPATCH(GapSelectionFloats)(model))),
      singletons(aligned<double>(static_cast<size_t>(model.padded * kPadding))),
      tree(aligned<double>(HWY_DYNAMIC_DISPATCH(GapTreeBytes)(model) / sizeof(double))) {}

void process_gap_block(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace) {
  HWY_DYNAMIC_DISPATCH(ProcessGapBlock)(model, block, workspace);
}

}  // namespace gsc
#endif
