#include "truncated/gaps/gap_kernel.h"

#include "inference/simd_targets.h"
#include "math/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "truncated/gaps/gap_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "truncated/gaps/gap_systems-inl.h"
#include "truncated/tree/lane_batch-inl.h"
#include "truncated/tree/lane_trees-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Up to kGapRows data points, whose systems are in the workspace; the first is `first` of the block.
class GapPoints {
 public:
  static constexpr bool kTogether = true;

  GapPoints(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace, Index first)
      : model_(model), block_(block), work_(workspace), first_(first) {}

  template <class Tree>
  void Gather(Tree& tree, size_t l, size_t i) {
    const Index from = static_cast<Index>(i), at = from * model_.candidates;
    std::reverse_copy(Candidates(i), Candidates(i) + model_.candidates, latents_[l]);
    tree.GatherSystem(l, latents_[l], work_.system.data() + from * Triangle(model_.candidates, 0),
                      work_.eta.data() + at, work_.a.data() + at);
  }

  double BestOutside(size_t i) const {
    const D d;
    const double* log_weights = LogWeights(i);
    V best = hn::Set(d, -INFINITY);
    for (size_t h = 0; h < static_cast<size_t>(model_.padded); h += hn::Lanes(d))
      best = hn::Max(best, hn::LoadU(d, log_weights + h));
    return hn::GetLane(hn::MaxOfLanes(d, best));
  }

  /// Weights of the singletons relative to exp(reference), zero for the candidates; returns their sum.
  double Outside(size_t l, size_t i, double reference) {
    const D d;
    const double* log_weights = LogWeights(i);
    double* weights = Weights(l);
    const auto padded = static_cast<size_t>(model_.padded);
    const V shift = hn::Set(d, reference);
    for (size_t h = 0; h < padded; h += hn::Lanes(d))
      hn::Store(FastExp(d, hn::Sub(hn::LoadU(d, log_weights + h), shift)), d, weights + h);
    for (int k = 0; k < model_.candidates; ++k) weights[Candidates(i)[k]] = 0;
    V sum = hn::Zero(d);
    for (size_t h = 0; h < padded; h += hn::Lanes(d)) sum = hn::Add(sum, hn::Load(d, weights + h));
    return hn::GetLane(hn::SumOfLanes(d, sum));
  }

  /// Normalises the singletons and turns eta and J^_hh of each data point into means and second moments:
  ///   p eta/J    p (1/J + (eta/J)^2)
  void Normalize(size_t first, size_t count, const double* inverse) {
    const D d;
    const V one = hn::Set(d, 1.0);
    const auto padded = static_cast<size_t>(model_.padded);
    for (size_t h = 0; h < padded; h += hn::Lanes(d)) {
      V s = hn::Zero(d), m = hn::Zero(d), ZZ = hn::Zero(d);
      for (size_t l = 0; l < count; ++l) {
        const size_t at = (static_cast<size_t>(first_) + first + l) * padded + h;
        const V variance = hn::Div(one, hn::LoadU(d, block_.second_moment + at));
        const V z = hn::Mul(hn::LoadU(d, block_.rows + at), variance);
        const V p = hn::Mul(hn::Load(d, Weights(l) + h), hn::Set(d, inverse[l])), mean = hn::Mul(p, z);
        const V second = hn::Mul(p, hn::MulAdd(z, z, variance));
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
  template <class Tree>
  void Take(const Tree& tree, size_t l, size_t i, double log_sum) {
    const int size = model_.candidates;
    const Index from = static_cast<Index>(i), n = first_ + from;
    block_.log_sums[n] = log_sum;
    double* row = block_.rows + n * model_.padded;
    double* second_moment = block_.second_moment + n * model_.padded;
    double* probability = block_.probability == nullptr ? nullptr : block_.probability + n * model_.latents;
    const double* unit = work_.own_unit.data() + from * size;
    double* products = block_.products == nullptr ? nullptr : block_.products->products + n * Triangle(size, 0);
    if (block_.products != nullptr) std::copy_n(latents_[l], size, block_.products->candidates + n * size);
    if (probability != nullptr) std::copy_n(Weights(l), model_.latents, probability);
    for (int p = 0; p < size; ++p) {
      const Index h = latents_[l][p];
      row[h] = unit[p] * tree.Mean(p, l);
      second_moment[h] = unit[p] * unit[p] * tree.SecondMoment(p, l);
      if (probability != nullptr) probability[h] = tree.Probability(p, l);
      if (block_.sums != nullptr) {
        block_.sums->s[h] += tree.Probability(p, l);
        block_.sums->m[h] += row[h];
      }
      if (products != nullptr || (block_.sums != nullptr && !model_.full_slab))
        for (int q = 0; q <= p; ++q) {
          const double product = unit[p] * unit[q] * tree.Product(p, q, l);
          if (products != nullptr) *products++ = product;
          if (block_.sums != nullptr && !model_.full_slab) AddSymmetric(block_.sums->ZZ, h, latents_[l][q], product);
        }
    }
    if (block_.sums != nullptr && model_.full_slab) tree.AddProducts(l, latents_[l], *block_.sums);  // unit is 1
  }

  void Undone(size_t) {}

 private:
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;

  const std::uint16_t* Candidates(size_t i) const {
    return block_.candidates + (first_ + static_cast<Index>(i)) * model_.candidates;
  }
  const double* LogWeights(size_t i) const { return work_.log_weights.data() + static_cast<Index>(i) * model_.padded; }
  double* Weights(size_t lane) const { return work_.singletons.get() + lane * static_cast<size_t>(model_.padded); }
  static HWY_INLINE void Add(double* target, V value) {
    hn::StoreU(hn::Add(hn::LoadU(D(), target), value), D(), target);
  }

  const PreparedModel& model_;
  const GapBlock& block_;
  GapWorkspace& work_;
  const Index first_;
  std::uint16_t latents_[HWY_MAX_BYTES / sizeof(float)][kMaxCandidates];  // by position
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
std::int64_t RunGaps(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace, Index first,
                     Index count) {
  GapPoints points(model, block, workspace, first);
  const auto tree_in = [&]<class D>(D) { return Lanes<D>(model, reinterpret_cast<hn::Vec<D>*>(workspace.tree.get())); };
  auto tree = tree_in(hn::ScalableTag<T>());
  return LaneBatch(tree, points).RunAll(0, static_cast<size_t>(count), [&](size_t from, size_t to) {
    auto in_double = tree_in(hn::ScalableTag<double>());
    return LaneBatch(in_double, points).RunAll(from, to);
  });
}

std::int64_t ProcessGapBlock(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace) {
  const bool single = model.precision == Precision::single_precision;
  const Index D = model.dimensions;
  std::int64_t clamped = 0;
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
    const auto run = model.full_slab
                         ? (single ? RunGaps<float, FullSlabLanes> : RunGaps<double, FullSlabLanes>)
                         : (single ? RunGaps<float, DiagonalSlabLanes> : RunGaps<double, DiagonalSlabLanes>);
    clamped += run(model, block, workspace, first, count);
  }
  return clamped;
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(ProcessGapBlock);

GapWorkspace::GapWorkspace(const PreparedModel& model)
    : system(static_cast<size_t>(kGapRows * model.candidates * (model.candidates + 1) / 2)),
      eta(static_cast<size_t>(kGapRows * model.candidates)),
      a(eta.size()),
      own_unit(eta.size()),
      log_weights(static_cast<size_t>(kGapRows * model.padded)),
      scratch(static_cast<size_t>(model.dimensions)),
      picks(kGapRows * ((model.candidates + 1) / 2), model.dimensions),
      columns(picks.rows(), model.padded),
      selection(selection_memory(model, kGapRows)),
      singletons(aligned<double>(static_cast<size_t>(model.padded * kPadding))),
      tree(tree_memory(model)) {}

std::int64_t process_gap_block(const PreparedModel& model, const GapBlock& block, GapWorkspace& workspace) {
  return HWY_DYNAMIC_DISPATCH(ProcessGapBlock)(model, block, workspace);
}

}  // namespace gsc
#endif
