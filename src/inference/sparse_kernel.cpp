#include "inference/sparse_kernel.h"

#include "inference/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "inference/sparse_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "inference/candidates-inl.h"
#include "inference/lane_trees-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The candidates of one data point after the other, and J's diagonal, eta and a of each on them.
class Systems {
 public:
  Systems(const PreparedModel& model, const SharedPrior& shared, const SparseBlock& block, SparseWorkspace& workspace)
      : model_(model), shared_(shared), block_(block), work_(workspace), selector_(model, workspace.selection.get()) {}

  /// Under the model's prior.
  void Shared(Index n) {
    const double* eta = Row(n);
    std::uint16_t* candidates = Candidates(n);
    if (SelectsAny()) {
      selector_.Start(eta, model_.score_offset.data());
      selector_.Choose(candidates);
    } else {
      std::iota(candidates, candidates + model_.candidates, std::uint16_t{0});
    }
    for (int i = 0; i < model_.candidates; ++i) {
      const Index h = candidates[i];
      Put(n, i, 1, eta[h] + model_.eta_offset[h], model_.a[h]);
    }
    block_.log_sums[n] = model_.constant;
  }

  /// Under the prior that `sums`, of this data point, makes.
  void Own(Index n, const NeighbourSums& sums) {
    const double* eta = Row(n);
    std::uint16_t* candidates = Candidates(n);
    const UntouchedPrior& untouched = *sums.untouched;
    if (SelectsAny()) selector_.Start(eta, untouched.score_offset.data());
    const double log_off = Touched(eta, sums);
    if (SelectsAny())
      selector_.Choose(candidates);
    else
      std::iota(candidates, candidates + model_.candidates, std::uint16_t{0});
    for (int i = 0; i < model_.candidates; ++i) {
      const Index h = candidates[i];
      const auto at = static_cast<size_t>(h);
      if (sums.is_touched(h))
        Put(n, i, work_.own_diagonal[at], work_.own_eta[at], work_.own_a[at]);
      else
        Put(n, i, 1, eta[h] + model_.eta_offset[h], untouched.a[h]);
    }
    block_.log_sums[n] = shared_.constant + untouched.sum_log_off + log_off;
  }

 private:
  using D = hn::ScalableTag<double>;
  using V = hn::Vec<D>;

  bool SelectsAny() const { return model_.candidates < model_.latents; }
  const double* Row(Index n) const { return block_.rows + n * model_.padded; }
  std::uint16_t* Candidates(Index n) const { return block_.candidates + n * model_.candidates; }

  void Put(Index n, int i, double diagonal, double eta, double a) {
    const auto at = static_cast<size_t>(n * model_.candidates + i);
    work_.diagonal[at] = diagonal;
    work_.eta[at] = eta;
    work_.a[at] = a;
  }

  /// The touched latents' priors (own_prior() in gsc/nonlocal.h) and what follows from them,
  ///   J^_hh = t^2 (G_hh + 1/psi_n)      eta^_h = t (W'Py)_h + t mu_n/psi_n
  ///   a_h   = logit pi_n - 1/2 log(psi_n/t^2) - 1/2 mu_n^2/psi_n
  /// Returns the sum of log(1 - pi_n), less what it is for untouched latents.
  double Touched(const double* eta, const NeighbourSums& sums) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const hn::RebindToSigned<D> di;
    const V k = hn::Set(d, shared_.pseudo_counts), one = hn::Set(d, 1.0), half = hn::Set(d, 0.5);
    const V per_point = hn::Set(d, 1 / (shared_.pseudo_counts + sums.neighbours));
    HWY_ALIGN double diagonals[kLanes], etas[kLanes], as[kLanes], scores[kLanes], offs[kLanes];
    double log_off = 0;
    for (size_t first = 0; first < sums.touched; first += lanes) {
      const size_t count = std::min(lanes, sums.touched - first);
      const std::int64_t* latents = sums.latents.data() + first;  // beyond those that count: valid ones of before
      const auto at = hn::LoadU(di, latents);
      const auto of = [&](const Vector& values) HWY_ATTR { return hn::GatherIndex(d, values.data(), at); };
      const V s = of(sums.s);
      const V pi =
          hn::Min(hn::Max(hn::Mul(hn::Add(of(shared_.pi), s), per_point), hn::Set(d, kLeastPi)), hn::Set(d, kMostPi));
      const V weight = hn::Div(one, hn::Add(k, s));
      const V mu = hn::Mul(hn::Add(of(shared_.mu), of(sums.m)), weight);
      const V second = hn::Mul(hn::Add(of(shared_.second), of(sums.zz)), weight);
      const V psi = hn::Max(hn::NegMulAdd(mu, mu, second), hn::Mul(second, hn::Set(d, kLeastVariance)));
      const V precision = hn::Div(one, psi), off = hn::Sub(one, pi), odds = hn::Div(pi, off);
      const V square = of(shared_.square), mu_over_psi = hn::Mul(mu, precision);
      const V diagonal = hn::MulAdd(square, precision, of(shared_.gram));
      const V e = hn::MulAdd(of(shared_.scale), mu_over_psi, hn::GatherIndex(d, eta, at));
      const V log_prior = hn::Log(d, hn::Mul(hn::Mul(odds, odds), hn::Mul(square, precision)));
      const V a = hn::Mul(half, hn::NegMulAdd(mu, mu_over_psi, log_prior));
      hn::Store(diagonal, d, diagonals);
      hn::Store(e, d, etas);
      hn::Store(a, d, as);
      hn::Store(hn::Mul(half, hn::Sub(hn::Div(hn::Mul(e, e), diagonal), hn::Log(d, diagonal))), d, scores);
      hn::Store(hn::Log(d, off), d, offs);
      for (size_t l = 0; l < count; ++l) {
        const auto h = static_cast<size_t>(latents[l]);
        work_.own_diagonal[h] = diagonals[l];
        work_.own_eta[h] = etas[l];
        work_.own_a[h] = as[l];
        log_off += offs[l] - sums.untouched->log_off[latents[l]];
        selector_.Change(h, static_cast<float>(etas[l]), static_cast<float>(diagonals[l]), static_cast<float>(as[l]),
                         static_cast<float>(as[l] + scores[l]));
      }
    }
    return log_off;
  }

  static constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(double);

  const PreparedModel& model_;
  const SharedPrior& shared_;
  const SparseBlock& block_;
  SparseWorkspace& work_;
  CandidateSelector selector_;
};

/// Up to one vector of data points through the tree. Nothing here depends on which data points share a vector.
template <class T>
class SparseBatches {
 public:
  SparseBatches(const PreparedModel& model, const SparseBlock& block, SparseWorkspace& workspace)
      : model_(model), block_(block), work_(workspace), tree_(model, reinterpret_cast<V*>(workspace.tree.get())) {}

  /// Data points whose log weights are too large for T to tell their differences are left undone, and listed.
  void Run(const std::uint32_t* points, size_t count, std::vector<std::uint32_t>* undone) {
    const D d;
    const size_t lanes = hn::Lanes(d);
    HWY_ALIGN T shift[kLanes], mass[kLanes], max_x[kLanes], factor[kLanes];
    double reference[kLanes];
    const auto fits = [&](size_t l) { return undone == nullptr || reference[l] <= kRange; };
    for (size_t l = 0; l < lanes; ++l) {
      const auto at = static_cast<size_t>(points[std::min(l, count - 1)]) * static_cast<size_t>(model_.candidates);
      const std::uint16_t* candidates = block_.candidates + at;
      std::reverse_copy(candidates, candidates + model_.candidates, latents_);
      tree_.GatherOwn(l, latents_, work_.diagonal.data() + at, work_.eta.data() + at, work_.a.data() + at);
    }
    hn::Store(tree_.BestOfChain(), d, max_x);
    for (size_t l = 0; l < lanes; ++l) reference[l] = std::max(0.0, static_cast<double>(max_x[l]));

    // A state far better than the reference would overflow: then its log weight, which is known now, is the reference.
    constexpr T kHeadroom = sizeof(T) == 8 ? 300 : 40;
    for (bool again = true; again;) {
      for (size_t l = 0; l < lanes; ++l) shift[l] = static_cast<T>(-reference[l]);
      hn::Store(tree_.Run(hn::Load(d, shift)), d, mass);
      hn::Store(tree_.max_x, d, max_x);
      again = false;
      for (size_t l = 0; l < lanes; ++l)
        if (max_x[l] > kHeadroom && fits(l)) {
          reference[l] += static_cast<double>(max_x[l]);
          again = true;
        }
    }
    double log_sums[kLanes];
    for (size_t l = 0; l < lanes; ++l) {
      const double Z = std::exp(-reference[l]) + static_cast<double>(mass[l]);
      factor[l] = static_cast<T>(1 / Z);
      log_sums[l] = reference[l] + std::log(Z);
    }
    tree_.Normalize(hn::Load(d, factor));
    for (size_t l = 0; l < count; ++l) {
      if (!fits(l)) {
        undone->push_back(points[l]);
        continue;
      }
      block_.log_sums[points[l]] += log_sums[l];
      Write(l, points[l]);
    }
  }

 private:
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(T);
  static constexpr double kRange = 1e4;

  void Write(size_t lane, std::uint32_t point) {
    const Index at = static_cast<Index>(point) * model_.candidates;
    for (int i = 0; i < model_.candidates; ++i) {
      const int position = model_.candidates - 1 - i;
      const double t = model_.scale[block_.candidates[at + i]];
      block_.probability[at + i] = static_cast<float>(tree_.Probability(position, lane));
      block_.mean[at + i] = static_cast<float>(t * tree_.Mean(position, lane));
      block_.second_moment[at + i] = static_cast<float>(t * t * tree_.SecondMoment(position, lane));
    }
  }

  const PreparedModel& model_;
  const SparseBlock& block_;
  SparseWorkspace& work_;
  DiagonalSlabLanes<D> tree_;
  std::uint16_t latents_[kMaxCandidates];  // by position
};

template <class T>
void RunSparse(const PreparedModel& model, const SparseBlock& block, SparseWorkspace& workspace,
               const std::vector<std::uint32_t>& points, std::vector<std::uint32_t>* undone) {
  SparseBatches<T> batches(model, block, workspace);
  const size_t lanes = hn::Lanes(hn::ScalableTag<T>());
  for (size_t first = 0; first < points.size(); first += lanes)
    batches.Run(points.data() + first, std::min(lanes, points.size() - first), undone);
}

void ProcessSparseBlock(const PreparedModel& model, const SharedPrior& shared, NeighbourSums* sums,
                        const SparseBlock& block, SparseWorkspace& workspace) {
  Systems systems(model, shared, block, workspace);
  for (Index n = 0; n < block.count; ++n) {
    if (sums == nullptr) {
      systems.Shared(n);
    } else {
      sums->gather(block.first + n);
      systems.Own(n, *sums);
    }
  }
  std::vector<std::uint32_t>& points = workspace.points;
  points.resize(static_cast<size_t>(block.count));
  std::iota(points.begin(), points.end(), 0U);
  if (model.precision == Precision::double_precision) {
    RunSparse<double>(model, block, workspace, points, nullptr);
  } else {
    std::vector<std::uint32_t>& undone = workspace.undone;
    undone.clear();
    RunSparse<float>(model, block, workspace, points, &undone);
    RunSparse<double>(model, block, workspace, undone, nullptr);
  }
}

/// Bytes of the tree's vectors for this target.
size_t SparseTreeBytes(const PreparedModel& model) {
  using Double = hn::ScalableTag<double>;
  return static_cast<size_t>(DiagonalSlabLanes<Double>::BufferVectors(model.candidates, model.max_active)) *
         sizeof(hn::Vec<Double>);
}

size_t SparseSelectionFloats(const PreparedModel& model) {
  return static_cast<size_t>(CandidateSelector::ScratchFloats(model.padded, model.candidates));
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(ProcessSparseBlock);
HWY_EXPORT(SparseTreeBytes);
HWY_EXPORT(SparseSelectionFloats);

SparseWorkspace::SparseWorkspace(const PreparedModel& model, Index block_rows)
    : diagonal(static_cast<size_t>(block_rows * model.candidates)),
      eta(diagonal.size()),
      a(diagonal.size()),
      own_diagonal(static_cast<size_t>(model.padded)),
      own_eta(own_diagonal.size()),
      own_a(own_diagonal.size()),
      selection(hwy::AllocateAligned<float>(HWY_DYNAMIC_DISPATCH(SparseSelectionFloats)(model))),
      tree(hwy::AllocateAligned<double>(HWY_DYNAMIC_DISPATCH(SparseTreeBytes)(model) / sizeof(double))) {}

void process_sparse_block(const PreparedModel& model, const SharedPrior& shared, NeighbourSums* sums,
                          const SparseBlock& block, SparseWorkspace& workspace) {
  HWY_DYNAMIC_DISPATCH(ProcessSparseBlock)(model, shared, sums, block, workspace);
}

}  // namespace gsc
#endif
