#include "truncated/tree/tree_kernel.h"

#include "inference/simd_targets.h"
#include "math/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "truncated/tree/tree_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "truncated/tree/candidates-inl.h"
#include "truncated/tree/clusters.h"
#include "truncated/tree/lane_batch-inl.h"
#include "truncated/tree/lane_trees-inl.h"

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

/// The data points of a block, in the order of the workspace.
class BlockPoints {
 public:
  static constexpr bool kTogether = true;

  BlockPoints(const PreparedModel& model, const Block& block, Workspace& workspace)
      : model_(model),
        block_(block),
        sums_(block.sums),
        posterior_(block.posterior),
        work_(workspace),
        singletons_(model, workspace.singletons.get()) {}

  /// From now on all get these candidates, or if null each its own.
  void UseCandidates(const std::uint16_t* shared) { shared_ = shared; }

  template <class Tree>
  void Gather(Tree& tree, size_t l, size_t i) {
    const Index n = work_.order[i].point;
    const std::uint16_t* candidates = shared_ != nullptr ? shared_ : Candidates(n);
    std::reverse_copy(candidates, candidates + model_.candidates, latents_[l]);
    tree.Gather(l, latents_[l], Row(n));
  }

  double BestOutside(size_t i) const { return work_.best_singleton[work_.order[i].point]; }

  double Outside(size_t l, size_t i, double reference) {
    const Index n = work_.order[i].point;
    return HasOutside() ? singletons_.Weigh(l, Row(n), reference, Candidates(n)) : 0;
  }

  void Normalize(size_t first, size_t count, const double* inverse) {
    if (!HasOutside()) return;
    double* etas[kMostLanes];
    for (size_t l = 0; l < count; ++l) {
      const Index n = work_.order[first + l].point;
      etas[l] = Row(n);
      // Finish() overwrites eta, which the second moments of the singletons still need.
      if (posterior_.second_moment != nullptr)
        std::copy_n(etas[l], model_.latents, posterior_.second_moment + n * model_.latents);
    }
    singletons_.Finish(count, inverse, etas, sums_);
  }

  template <class Tree>
  void Take(const Tree& tree, size_t l, size_t i, double log_sum) {
    const Index n = work_.order[i].point, H = model_.latents;
    block_.log_sums[n] = log_sum;
    double* row = Row(n);
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
      row[h] = tree.Mean(p, l);
      if (probability != nullptr) probability[h] = tree.Probability(p, l);
      if (second_moment != nullptr) second_moment[h] = tree.SecondMoment(p, l);
      if (sums_ != nullptr) {
        sums_->s[h] += tree.Probability(p, l);
        sums_->m[h] += row[h];
      }
    }
    if (sums_ != nullptr) tree.AddProducts(l, latents_[l], *sums_);
  }

  void Undone(size_t) {}

 private:
  static constexpr size_t kMostLanes = HWY_MAX_BYTES / sizeof(float);

  bool HasOutside() const { return model_.candidates < model_.latents; }
  double* Row(Index n) const { return block_.rows + n * model_.padded; }
  const std::uint16_t* Candidates(Index n) const { return work_.candidates.data() + n * model_.candidates; }

  const PreparedModel& model_;
  const Block& block_;
  BlockSums* sums_;
  const BlockPosterior& posterior_;
  Workspace& work_;
  Singletons singletons_;
  const std::uint16_t* shared_ = nullptr;
  std::uint16_t latents_[kMostLanes][kMaxCandidates];  // by position
};

/// eta offset and candidates of every data point.
void Select(const PreparedModel& model, const Block& block, Workspace& workspace) {
  CandidateSelector selector(model, workspace.selection.get());
  for (Index n = 0; n < block.count; ++n) {
    double* eta = block.rows + n * model.padded;
    workspace.best_singleton[static_cast<size_t>(n)] = Singletons::Prepare(model, eta);
    std::uint16_t* candidates = workspace.candidates.data() + n * model.candidates;
    if (model.candidates == model.latents)
      std::iota(candidates, candidates + model.candidates, std::uint16_t{0});
    else
      selector.Select(eta, candidates);
    workspace.order[static_cast<size_t>(n)] = {0, static_cast<std::uint32_t>(n)};
  }
}

/// Data points first .. end-1 of the workspace's order. `InDouble`: the tree for those that turn out to need it.
template <class InDouble, class Tree>
std::int64_t RunPoints(const PreparedModel& model, Workspace& workspace, BlockPoints& points, Tree& tree, size_t first,
                       size_t end) {
  return LaneBatch(tree, points).RunAll(first, end, [&](size_t from, size_t to) {
    InDouble in_double(model, reinterpret_cast<typename InDouble::V*>(workspace.tree.get()));
    BlockPoints alone = points;
    alone.UseCandidates(nullptr);
    return LaneBatch(in_double, alone).RunAll(from, to);
  });
}

/// Diagonal slab: clusters of equal candidates through the shared tree, the other data points through the lanes.
template <class T>
std::int64_t RunClustered(const PreparedModel& model, const Block& block, Workspace& workspace) {
  using D = hn::ScalableTag<T>;
  using InDouble = DiagonalSlabLanes<hn::ScalableTag<double>>;
  auto* memory = reinterpret_cast<hn::Vec<D>*>(workspace.tree.get());
  auto& order = workspace.order;
  BlockPoints points(model, block, workspace);
  const auto count = static_cast<size_t>(block.count);
  size_t alone = 0;  // order[0 .. alone) are left for the lanes
  std::int64_t clamped = 0;
  if (model.share_clusters) {
    const size_t worth = kSharedWorth * hn::Lanes(D());
    sort_by_candidates(model, block.count, workspace);
    SharedSlabLanes<D> tree(model, memory);
    for (size_t first = 0, end; first < count; first = end) {
      for (end = first + 1; end < count && order[end].key == order[first].key;) ++end;
      if (end - first >= worth && same_candidates(model, workspace, first, end)) {
        const std::uint16_t* candidates =
            workspace.candidates.data() + static_cast<size_t>(order[first].point) * model.candidates;
        std::uint16_t latents[kMaxCandidates];
        std::reverse_copy(candidates, candidates + model.candidates, latents);
        tree.UseCandidates(latents);
        points.UseCandidates(candidates);
        clamped += RunPoints<InDouble>(model, workspace, points, tree, first, end);
      } else {
        std::copy(order.begin() + static_cast<Index>(first), order.begin() + static_cast<Index>(end),
                  order.begin() + static_cast<Index>(alone));
        alone += end - first;
      }
    }
  } else {
    alone = count;
  }
  points.UseCandidates(nullptr);
  DiagonalSlabLanes<D> tree(model, memory);
  return clamped + RunPoints<InDouble>(model, workspace, points, tree, 0, alone);
}

template <class T>
std::int64_t RunFullSlab(const PreparedModel& model, const Block& block, Workspace& workspace) {
  using D = hn::ScalableTag<T>;
  FullSlabLanes<D> tree(model, reinterpret_cast<hn::Vec<D>*>(workspace.tree.get()));
  BlockPoints points(model, block, workspace);
  return RunPoints<FullSlabLanes<hn::ScalableTag<double>>>(model, workspace, points, tree, 0,
                                                           static_cast<size_t>(block.count));
}

std::int64_t ProcessBlock(const PreparedModel& model, const Block& block, Workspace& workspace) {
  Select(model, block, workspace);
  if (block.posterior.keys_alone) return 0;
  const bool single = model.precision == Precision::single_precision;
  if (model.full_slab) return (single ? RunFullSlab<float> : RunFullSlab<double>)(model, block, workspace);
  return (single ? RunClustered<float> : RunClustered<double>)(model, block, workspace);
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

hwy::AlignedFreeUniquePtr<double[]> tree_memory(const PreparedModel& model) {
  return aligned<double>(HWY_DYNAMIC_DISPATCH(TreeBytes)(model) / sizeof(double));
}

hwy::AlignedFreeUniquePtr<float[]> selection_memory(const PreparedModel& model, Index points) {
  return aligned<float>(HWY_DYNAMIC_DISPATCH(SelectionFloats)(model) * static_cast<size_t>(points));
}

Workspace::Workspace(const PreparedModel& model, Index block_rows)
    : candidates(static_cast<size_t>(block_rows * model.candidates)),
      order(static_cast<size_t>(block_rows)),
      best_singleton(order.size()),
      selection(selection_memory(model, 1)),
      singletons(aligned<double>(static_cast<size_t>(model.padded * kPadding))),
      tree(tree_memory(model)) {}

std::int64_t process_block(const PreparedModel& model, const Block& block, Workspace& workspace) {
  const std::int64_t clamped = HWY_DYNAMIC_DISPATCH(ProcessBlock)(model, block, workspace);
  if (block.posterior.keys != nullptr)
    for (Index n = 0; n < block.count; ++n)
      block.posterior.keys[n] = candidates_key(model, workspace, static_cast<std::uint32_t>(n));
  std::int32_t* candidates = block.posterior.candidates;
  if (candidates == nullptr) return clamped;
  std::copy_n(workspace.candidates.data(), block.count * model.candidates, candidates);
  for (Index n = 0; n < block.count; ++n)
    std::sort(candidates + n * model.candidates, candidates + (n + 1) * model.candidates);
  return clamped;
}

}  // namespace gsc
#endif
