#include "truncated/tree/tree_kernel.h"

#include "inference/simd_targets.h"
#include "math/aligned.h"
#include "truncated/tree/raised_reference.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "truncated/tree/tree_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "truncated/tree/candidates-inl.h"
#include "truncated/tree/clusters.h"
#include "truncated/tree/lane_trees-inl.h"
#include "truncated/tree/workspace.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The singleton states of up to a batch of data points outside their candidates.
class Singletons {
 public:
  Singletons(const PreparedModel& model, double* weights) : model_(model), weights_(weights) {}

  /// Adds the offset to a row of eta; returns the largest log weight of any singleton.
  static double Prepare(const PreparedModel& model, double* eta) {
    const D d;
    V best = hn::Set(d, -INFINITY);
    for (size_t h = 0; h < static_cast<size_t>(model.padded); h += hn::Lanes(d)) {
      const V e = hn::Add(hn::LoadU(d, eta + h), hn::LoadU(d, model.eta_offset.data() + h));
      hn::StoreU(e, d, eta + h);
      best = hn::Max(best, LogWeight(model, e, h));
    }
    return hn::GetLane(hn::MaxOfLanes(d, best));
  }

  double* Weights(size_t lane) const { return weights_ + lane * static_cast<size_t>(model_.padded); }

  /// Weights of one data point relative to exp(reference), zero for the candidates; returns their sum.
  double Weigh(size_t lane, const double* eta, double reference, const std::uint16_t* candidates) {
    const D d;
    const auto padded = static_cast<size_t>(model_.padded);
    double* weights = Weights(lane);
    const V shift = hn::Set(d, reference);
    for (size_t h = 0; h < padded; h += hn::Lanes(d))
      hn::Store(FastExp(d, hn::Sub(LogWeight(model_, hn::LoadU(d, eta + h), h), shift)), d, weights + h);
    for (int i = 0; i < model_.candidates; ++i) weights[candidates[i]] = 0;
    V sum = hn::Zero(d);
    for (size_t h = 0; h < padded; h += hn::Lanes(d)) sum = hn::Add(sum, hn::Load(d, weights + h));
    return hn::GetLane(hn::SumOfLanes(d, sum));
  }

  /// Normalises the weights, turns eta of each data point into posterior means, and adds to the sums.
  void Finish(size_t count, const double* factors, double* const* etas, BlockSums* sums) {
    const D d;
    const V one = hn::Set(d, 1.0);
    for (size_t h = 0; h < static_cast<size_t>(model_.padded); h += hn::Lanes(d)) {
      V s = hn::Zero(d), m = hn::Zero(d), ZZ = hn::Zero(d);
      for (size_t l = 0; l < count; ++l) {
        const V e = hn::LoadU(d, etas[l] + h);
        const V p = hn::Mul(hn::Load(d, Weights(l) + h), hn::Set(d, factors[l])), mean = hn::Mul(p, e);
        hn::Store(p, d, Weights(l) + h);
        hn::StoreU(mean, d, etas[l] + h);
        s = hn::Add(s, p);
        m = hn::Add(m, mean);
        ZZ = hn::MulAdd(p, hn::MulAdd(e, e, one), ZZ);
      }
      if (sums == nullptr) continue;
      Add(sums->single_s.data() + h, s);
      Add(sums->single_m.data() + h, m);
      Add(sums->single_ZZ.data() + h, ZZ);
    }
  }

 private:
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;

  /// a + eta^2/2
  static HWY_INLINE V LogWeight(const PreparedModel& model, V e, size_t h) {
    const D d;
    return hn::MulAdd(hn::Mul(e, hn::Set(d, 0.5)), e, hn::LoadU(d, model.a.data() + h));
  }
  static HWY_INLINE void Add(double* target, V value) {
    hn::StoreU(hn::Add(hn::LoadU(D(), target), value), D(), target);
  }

  const PreparedModel& model_;
  double* weights_;
};

/// Up to one vector of data points through a tree, from their eta rows to posterior means and sums.
template <class D, class Lanes>
class Batch {
 public:
  using V = hn::Vec<D>;
  using T = hn::TFromD<D>;

  Batch(const PreparedModel& model, const Block& block, Workspace::Buffers& buffers, Lanes& tree)
      : model_(model),
        block_(block),
        sums_(block.sums),
        posterior_(block.posterior),
        buffers_(buffers),
        singletons_(model, buffers.singletons.get()),
        tree_(tree) {}

  /// points[0 .. count-1], count at most the number of lanes. All get the candidates `like`, if given. False, with
  /// nothing done, if log weights are too large for T to tell their differences.
  bool Run(const Workspace::Buffers::Keyed* points, size_t count, const std::uint16_t* like = nullptr) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    HWY_ALIGN T shift[kLanes], mass[kLanes], max_x[kLanes], factor[kLanes];
    double reference[kLanes], inverse_Z[kLanes] = {};
    for (size_t l = 0; l < lanes; ++l) {
      const Index n = points[std::min(l, count - 1)].point;  // idle lanes repeat the last point
      const std::uint16_t* candidates = like != nullptr ? like : Candidates(n);
      std::reverse_copy(candidates, candidates + model_.candidates, latents_[l]);
      tree_.Gather(l, latents_[l], Row(n));
    }
    hn::Store(tree_.BestOfChain(), d, max_x);
    for (size_t l = 0; l < lanes; ++l) {
      const Index n = points[std::min(l, count - 1)].point;
      reference[l] = std::max({0.0, static_cast<double>(max_x[l]), buffers_.best_singleton[static_cast<size_t>(n)]});
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
    if (sums_ != nullptr)
      sums_->clamped_pivots +=
          static_cast<std::int64_t>(hn::CountTrue(d, hn::And(tree_.clamped, hn::FirstN(d, count))));

    for (size_t l = 0; l < lanes; ++l) {
      const Index n = points[std::min(l, count - 1)].point;
      const double outside = HasOutside() ? singletons_.Weigh(l, Row(n), reference[l], Candidates(n)) : 0;
      const double Z = std::exp(-reference[l]) + outside + static_cast<double>(mass[l]);
      inverse_Z[l] = 1 / Z;
      factor[l] = l < count ? static_cast<T>(inverse_Z[l]) : T{0};
      if (l < count) block_.log_sums[n] = reference[l] + std::log(Z);
    }
    tree_.Normalize(hn::Load(d, factor));
    double* etas[kLanes];
    for (size_t l = 0; l < count; ++l) {
      etas[l] = Row(points[l].point);
      if (HasOutside() && posterior_.second_moment != nullptr) KeepEta(points[l].point);
    }
    if (HasOutside()) singletons_.Finish(count, inverse_Z, etas, sums_);
    for (size_t l = 0; l < count; ++l) Scatter(l, points[l].point);
    return true;
  }

 private:
  static constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(T);
  /// Double precision is the last resort: it has nobody to pass a data point on to.
  static constexpr double kRange = sizeof(T) == 8 ? std::numeric_limits<double>::infinity() : 1e4;

  bool HasOutside() const { return model_.candidates < model_.latents; }
  double* Row(Index n) const { return block_.rows + n * model_.padded; }
  const std::uint16_t* Candidates(Index n) const { return buffers_.candidates.data() + n * model_.candidates; }

  /// Finish() overwrites eta, which the second moments of the singletons still need.
  void KeepEta(Index n) { std::copy_n(Row(n), model_.latents, posterior_.second_moment + n * model_.latents); }

  void Scatter(size_t l, Index n) {
    double* row = Row(n);
    const Index H = model_.latents;
    double* probability = posterior_.probability == nullptr ? nullptr : posterior_.probability + n * H;
    double* second_moment = posterior_.second_moment == nullptr ? nullptr : posterior_.second_moment + n * H;
    if (HasOutside()) {
      const double* weights = singletons_.Weights(l);
      if (probability != nullptr) std::copy_n(weights, H, probability);
      if (second_moment != nullptr)
        for (Index h = 0; h < H; ++h) second_moment[h] = weights[h] * (1 + second_moment[h] * second_moment[h]);
    }
    for (int p = 0; p < model_.candidates; ++p) {
      const Index h = latents_[l][p];
      row[h] = tree_.Mean(p, l);
      if (probability != nullptr) probability[h] = tree_.Probability(p, l);
      if (second_moment != nullptr) second_moment[h] = tree_.SecondMoment(p, l);
      if (sums_ != nullptr) {
        sums_->s[h] += tree_.Probability(p, l);
        sums_->m[h] += row[h];
      }
    }
    if (sums_ != nullptr) tree_.AddProducts(l, latents_[l], *sums_);
  }

  const PreparedModel& model_;
  const Block& block_;
  BlockSums* sums_;
  const BlockPosterior& posterior_;
  Workspace::Buffers& buffers_;
  Singletons singletons_;
  Lanes& tree_;
  std::uint16_t latents_[kLanes][kMaxCandidates];  // by position
};

/// eta offset and candidates of every data point.
void Select(const PreparedModel& model, const Block& block, Workspace::Buffers& buffers) {
  CandidateSelector selector(model, buffers.selection.get());
  for (Index n = 0; n < block.count; ++n) {
    double* eta = block.rows + n * model.padded;
    buffers.best_singleton[static_cast<size_t>(n)] = Singletons::Prepare(model, eta);
    std::uint16_t* candidates = buffers.candidates.data() + n * model.candidates;
    if (model.candidates == model.latents)
      std::iota(candidates, candidates + model.candidates, std::uint16_t{0});
    else
      selector.Select(eta, candidates);
    buffers.order[static_cast<size_t>(n)] = {0, static_cast<std::uint32_t>(n)};
  }
}

/// `InDouble`: the tree for batches that turn out to need double precision.
template <class D, class InDouble, class Lanes>
void RunBatches(const PreparedModel& model, const Block& block, Workspace::Buffers& buffers, Lanes& tree,
                const Workspace::Buffers::Keyed* points, size_t count, const std::uint16_t* like = nullptr) {
  Batch<D, Lanes> batch(model, block, buffers, tree);
  const size_t lanes = hn::Lanes(D());
  for (size_t first = 0; first < count; first += lanes) {
    const size_t size = std::min(lanes, count - first);
    if (batch.Run(points + first, size, like)) continue;
    using Double = hn::ScalableTag<double>;
    InDouble double_tree(model, reinterpret_cast<hn::Vec<Double>*>(buffers.tree.get()));
    RunBatches<Double, InDouble>(model, block, buffers, double_tree, points + first, size);
  }
}

/// Diagonal slab: clusters of equal candidates through the shared tree, the other data points through the lanes.
template <class T>
void RunClustered(const PreparedModel& model, const Block& block, Workspace::Buffers& buffers) {
  using D = hn::ScalableTag<T>;
  using InDouble = DiagonalSlabLanes<hn::ScalableTag<double>>;
  auto* memory = reinterpret_cast<hn::Vec<D>*>(buffers.tree.get());
  auto& order = buffers.order;
  const auto count = static_cast<size_t>(block.count);
  size_t alone = 0;  // order[0 .. alone) are left for the lanes
  if (model.share_clusters) {
    const size_t worth = kSharedWorth * hn::Lanes(D());
    sort_by_candidates(model, block.count, buffers);
    SharedSlabLanes<D> tree(model, memory);
    for (size_t first = 0, end; first < count; first = end) {
      for (end = first + 1; end < count && order[end].key == order[first].key;) ++end;
      if (end - first >= worth && same_candidates(model, buffers, first, end)) {
        const std::uint16_t* candidates =
            buffers.candidates.data() + static_cast<size_t>(order[first].point) * model.candidates;
        std::uint16_t latents[kMaxCandidates];
        std::reverse_copy(candidates, candidates + model.candidates, latents);
        tree.UseCandidates(latents);
        RunBatches<D, InDouble>(model, block, buffers, tree, order.data() + first, end - first, candidates);
      } else {
        std::copy(order.begin() + static_cast<Index>(first), order.begin() + static_cast<Index>(end),
                  order.begin() + static_cast<Index>(alone));
        alone += end - first;
      }
    }
  } else {
    alone = count;
  }
  DiagonalSlabLanes<D> tree(model, memory);
  RunBatches<D, InDouble>(model, block, buffers, tree, order.data(), alone);
}

template <class T>
void RunFullSlab(const PreparedModel& model, const Block& block, Workspace::Buffers& buffers) {
  using D = hn::ScalableTag<T>;
  FullSlabLanes<D> tree(model, reinterpret_cast<hn::Vec<D>*>(buffers.tree.get()));
  RunBatches<D, FullSlabLanes<hn::ScalableTag<double>>>(model, block, buffers, tree, buffers.order.data(),
                                                        static_cast<size_t>(block.count));
}

void ProcessBlock(const PreparedModel& model, const Block& block, Workspace::Buffers& buffers) {
  Select(model, block, buffers);
  const bool single = model.precision == Precision::single_precision;
  if (model.full_slab)
    (single ? RunFullSlab<float> : RunFullSlab<double>)(model, block, buffers);
  else
    (single ? RunClustered<float> : RunClustered<double>)(model, block, buffers);
}

/// Bytes of the trees' vectors for this target.
size_t TreeBytes(const PreparedModel& model) {
  const int candidates = model.candidates, max_active = model.max_active;
  using Double = hn::ScalableTag<double>;
  const Index vectors = model.full_slab ? FullSlabLanes<Double>::BufferVectors(candidates, max_active)
                                        : std::max(DiagonalSlabLanes<Double>::BufferVectors(candidates, max_active),
                                                   SharedSlabLanes<Double>::BufferVectors(candidates, max_active));
  return static_cast<size_t>(vectors) * sizeof(hn::Vec<Double>);
}

size_t SelectionFloats(const PreparedModel& model) {
  return static_cast<size_t>(CandidateSelector::ScratchFloats(model.padded, model.candidates));
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(ProcessBlock);
HWY_EXPORT(TreeBytes);
HWY_EXPORT(SelectionFloats);

BlockSums::BlockSums(const PreparedModel& model)
    : single_s(Vector::Zero(model.padded)),
      single_m(Vector::Zero(model.padded)),
      single_ZZ(Vector::Zero(model.padded)),
      s(Vector::Zero(model.latents)),
      m(Vector::Zero(model.latents)),
      ZZ(Matrix::Zero(model.latents, model.latents)) {
  if (model.full_slab) {
    lambda = Vector::Zero(model.latents);
    T = SS = Matrix::Zero(model.latents, model.latents);
  }
}

Workspace::Workspace(const PreparedModel& model, Index block_rows) : buffers_(std::make_unique<Buffers>()) {
  const auto rows = static_cast<size_t>(block_rows), padded = static_cast<size_t>(model.padded);
  buffers_->candidates.resize(rows * static_cast<size_t>(model.candidates));
  buffers_->order.resize(rows);
  buffers_->best_singleton.resize(rows);
  buffers_->selection = aligned<float>(HWY_DYNAMIC_DISPATCH(SelectionFloats)(model));
  buffers_->singletons = aligned<double>(padded * kPadding);
  buffers_->tree = aligned<double>(HWY_DYNAMIC_DISPATCH(TreeBytes)(model) / sizeof(double));
}

Workspace::~Workspace() = default;
Workspace::Workspace(Workspace&&) noexcept = default;

void process_block(const PreparedModel& model, const Block& block, Workspace& workspace) {
  Workspace::Buffers& buffers = workspace.buffers();
  HWY_DYNAMIC_DISPATCH(ProcessBlock)(model, block, buffers);
  if (block.posterior.keys != nullptr)
    for (Index n = 0; n < block.count; ++n)
      block.posterior.keys[n] = candidates_key(model, buffers, static_cast<std::uint32_t>(n));
  std::int32_t* candidates = block.posterior.candidates;
  if (candidates == nullptr) return;
  std::copy_n(buffers.candidates.data(), block.count * model.candidates, candidates);
  for (Index n = 0; n < block.count; ++n)
    std::sort(candidates + n * model.candidates, candidates + (n + 1) * model.candidates);
}

}  // namespace gsc
#endif
