#include "truncated/own_priors/own_prior_kernel.h"

#include "inference/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "truncated/own_priors/own_prior_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "truncated/gaps/gap_systems-inl.h"
#include "truncated/tree/candidates-inl.h"
#include "truncated/tree/lane_batch-inl.h"
#include "truncated/tree/lane_trees-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The candidates of one data point after the other, and J's diagonal, eta and a of each on them.
class Systems {
 public:
  Systems(const PreparedModel& model, const SharedPrior& shared, const OwnPriorBlock& block,
          OwnPriorWorkspace& workspace)
      : model_(model), shared_(shared), block_(block), work_(workspace), selector_(model, workspace.selection.get()) {}

  /// Under the model's prior.
  void Shared(Index n) {
    double* eta = Row(n);
    for (Index h = 0; h < model_.padded; ++h) eta[h] += model_.eta_offset[h];
    std::uint16_t* candidates = Candidates(n);
    if (SelectsAny()) selector_.Select(eta, candidates);
    for (int i = 0; i < model_.candidates; ++i) Put(n, i, 1, eta[candidates[i]], model_.a[candidates[i]]);
    block_.log_sums[n] = model_.constant;
  }

  /// Under the prior that `sums`, of this data point, and the model's prior make (own_prior() in gsc/nonlocal.h). In
  /// scaled units it gives
  ///   J^_hh = G^_hh + 1/psi^_n      eta^_h = t (W'Py)_h + mu^_n/psi^_n
  ///   a_h   = logit pi_n - 1/2 log psi^_n - 1/2 mu^_n^2/psi^_n
  /// To rank the latents float will do. Its score is the model's plus logit pi_n - logit pi.
  void Own(Index n, const NeighbourSums& sums) {
    const double* eta = Row(n);
    std::uint16_t* candidates = Candidates(n);
    if (SelectsAny()) {
      StartOwn(eta, sums, shared_.single.gram.data(), selector_);
      selector_.Choose(candidates);
    }
    for (int i = 0; i < model_.candidates; ++i) {
      const Index h = candidates[i];
      const OwnPrior prior = PriorOf(h, sums);
      Put(n, i, shared_.gram[h] + 1 / prior.psi, eta[h] + prior.mu / prior.psi, prior.a);
    }
    block_.log_sums[n] = shared_.constant + LogAllOff(sums);
  }

  /// Data points with gaps, the first being `first` of all those of the block; at most kGapRows. Their systems go to
  /// the workspace for gaps. `sums`: null for the model's prior.
  void Gaps(Index first, Index count, NeighbourSums* sums) {
    const Index complete = block_.gaps->complete(), dimensions = model_.dimensions;
    const Matrix& observed = block_.gaps->observed();
    GapSelection selection(model_, *work_.gaps);
    std::uint16_t* candidates = block_.candidates + (complete + first) * model_.candidates;
    for (Index i = 0; i < count; ++i) {
      double* eta = Row(complete + first + i);
      double* diagonal = block_.diagonals + (first + i) * model_.padded;
      Candidates(complete + first + i);
      if (sums == nullptr) {
        for (Index h = 0; h < model_.padded; ++h) {
          eta[h] += model_.eta_offset[h];
          diagonal[h] += model_.gaps->slab_precision[h];
        }
        if (SelectsAny()) selection.Of(i).Start(diagonal, eta);
      } else if (SelectsAny()) {
        sums->gather(Number(complete + first + i));
        std::transform(diagonal, diagonal + model_.padded, work_.gram.data(),
                       [](double value) { return static_cast<float>(value); });
        CandidateSelector selector = selection.Of(i);
        StartOwn(eta, *sums, work_.gram.data(), selector);
      }
    }
    if (SelectsAny()) selection.Choose(count, observed.data() + first * dimensions, candidates);
    for (Index i = 0; i < count; ++i) {
      const Index n = complete + first + i;
      const double* eta = Row(n);
      const double* diagonal = block_.diagonals + (first + i) * model_.padded;
      if (sums != nullptr) sums->gather(Number(n));
      OwnSystem(model_, observed.row(first + i).data(), candidates + i * model_.candidates, i, *work_.gaps, nullptr,
                [&](Index h) {
                  if (sums == nullptr) return OnLatent{diagonal[h], eta[h], model_.a[h]};
                  const OwnPrior prior = PriorOf(h, *sums);
                  return OnLatent{diagonal[h] + 1 / prior.psi, eta[h] + prior.mu / prior.psi, prior.a};
                });
      block_.log_sums[n] = sums == nullptr ? model_.constant : shared_.constant + LogAllOff(*sums);
      for (Index d = 0; d < dimensions; ++d)
        if (observed(first + i, d) == 0) block_.log_sums[n] += model_.gaps->log_noise[d];
    }
  }

  /// A data point without any observed entry has the prior, on all states.
  void Empty(Index n, NeighbourSums* sums) {
    if (sums != nullptr) sums->gather(Number(n));
    block_.log_sums[n] = 0;
    for (int i = 0; i < model_.candidates; ++i) {
      const Index at = n * model_.candidates + i, h = block_.candidates[at];
      const double t = model_.scale[h];
      double pi = model_.gaps->pi[h], mean = model_.gaps->mean[h], second = model_.gaps->second[h];
      if (sums != nullptr) {
        const OwnPrior own = PriorOf(h, *sums);
        pi = own.pi;
        mean = pi * own.mu;
        second = pi * (own.psi + own.mu * own.mu);
      }
      block_.probability[at] = static_cast<float>(pi);
      block_.mean[at] = static_cast<float>(t * mean);
      block_.second_moment[at] = static_cast<float>(t * t * second);
    }
  }

 private:
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;
  using Double = hn::ScalableTag<double>;

  /// Of one latent and data point, scaled; a as above.
  struct OwnPrior {
    double pi, mu, psi, a;
  };
  OwnPrior PriorOf(Index h, const NeighbourSums& sums) const {
    const double k = shared_.pseudo_counts, per_point = 1 / (k + sums.count);
    const double inverse_t = shared_.inverse_scale[h], weight = 1 / (k + sums.s[h]);
    const double pi = std::clamp((shared_.pi[h] + sums.s[h]) * per_point, kLeastPi, kMostPi);
    const double mu = (shared_.mu[h] + sums.m[h] * inverse_t) * weight;
    const double second = (shared_.second[h] + sums.zz[h] * inverse_t * inverse_t) * weight;
    const double psi = std::max(second - mu * mu, kLeastVariance * second);
    const double odds = pi / (1 - pi);
    return {pi, mu, psi, 0.5 * (std::log(odds * odds / psi) - mu * mu / psi)};
  }

  /// The scores of a data point under its own prior, given the diagonal of G^.
  void StartOwn(const double* eta, const NeighbourSums& sums, const float* gram, CandidateSelector& selector) {
    const double k = shared_.pseudo_counts, per_point = 1 / (k + sums.count);
    const auto point = [&](size_t h, V& pivot, V& e, V& offset) HWY_ATTR {
      const D d;
      const auto at = [&](const auto& values) HWY_ATTR { return hn::LoadU(d, values.data() + h); };
      const V one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f), s = at(work_.s);
      const V pi =
          hn::Min(hn::Max(hn::Mul(hn::Add(at(shared_.single.pi), s), Set(per_point)), Set(kLeastPi)), Set(kMostPi));
      const V weight = hn::Div(one, hn::Add(s, Set(k)));
      const V mu = hn::Mul(hn::Add(at(shared_.single.mu), at(work_.m)), weight);
      const V second = hn::Mul(hn::Add(at(shared_.single.second), at(work_.zz)), weight);
      const V psi = hn::Max(hn::NegMulAdd(mu, mu, second), hn::Mul(second, Set(kLeastVariance)));
      const V precision = hn::Div(one, psi), mu_over_psi = hn::Mul(mu, precision);
      const V odds = hn::Div(pi, hn::Sub(one, pi));
      pivot = hn::Add(hn::LoadU(d, gram + h), precision);
      e = hn::Add(at(work_.projected), mu_over_psi);
      const V log_prior = hn::Mul(CoarseLog2(d, hn::Mul(hn::Mul(odds, odds), precision)), Set(std::numbers::ln2));
      offset = hn::MulAdd(half, hn::NegMulAdd(mu, mu_over_psi, log_prior), at(shared_.single.score_rest));
    };
    ToSingle(eta, sums);
    selector.Start(point);
  }

  /// Which row of the data it is.
  Index Number(Index n) const { return block_.first + (block_.gaps == nullptr ? n : block_.gaps->origin(n)); }
  double* Row(Index n) const { return block_.rows + n * model_.padded; }

  void Put(Index n, int i, double diagonal, double eta, double a) {
    const auto at = static_cast<size_t>(n * model_.candidates + i);
    work_.diagonal[at] = diagonal;
    work_.eta[at] = eta;
    work_.a[at] = a;
  }

  /// Whether there are any latents that are not candidates. If not, all are, in their order.
  bool SelectsAny() const { return model_.candidates < model_.latents; }
  std::uint16_t* Candidates(Index n) const {
    std::uint16_t* candidates = block_.candidates + n * model_.candidates;
    if (!SelectsAny()) std::iota(candidates, candidates + model_.candidates, std::uint16_t{0});
    return candidates;
  }

  static HWY_INLINE V Set(double value) { return hn::Set(D(), static_cast<float>(value)); }

  /// What selection reads of a data point, scaled.
  void ToSingle(const double* eta, const NeighbourSums& sums) {
    for (size_t h = 0; h < static_cast<size_t>(model_.padded); ++h) {
      const auto at = static_cast<Index>(h);
      const double inverse_t = shared_.inverse_scale[at];
      work_.projected[h] = static_cast<float>(eta[h]);
      work_.s[h] = static_cast<float>(sums.s[at]);
      work_.m[h] = static_cast<float>(sums.m[at] * inverse_t);
      work_.zz[h] = static_cast<float>(sums.zz[at] * inverse_t * inverse_t);
    }
  }

  /// sum_h log(1 - pi_n): the logarithm of products of so many factors, each at least 1 - kMostPi, as stay above
  /// 1e-300.
  double LogAllOff(const NeighbourSums& sums) const {
    const Double d;
    const double per_point = 1 / (shared_.pseudo_counts + sums.count);
    const size_t lanes = hn::Lanes(d), latents = static_cast<size_t>(model_.latents);
    constexpr size_t kFactors = 96;
    const auto one = hn::Set(d, 1.0);
    double log_off = 0;
    size_t h = 0;
    while (h + lanes <= latents) {
      auto product = one;
      for (size_t i = 0; i < kFactors && h + lanes <= latents; ++i, h += lanes) {
        const auto counts = hn::Add(hn::LoadU(d, shared_.pi.data() + h), hn::LoadU(d, sums.s.data() + h));
        const auto pi =
            hn::Min(hn::Max(hn::Mul(counts, hn::Set(d, per_point)), hn::Set(d, kLeastPi)), hn::Set(d, kMostPi));
        product = hn::Mul(product, hn::Sub(one, pi));
      }
      log_off += hn::GetLane(hn::SumOfLanes(d, hn::Log(d, product)));
    }
    for (; h < latents; ++h) {
      const auto at = static_cast<Index>(h);
      log_off += std::log(1 - std::clamp((shared_.pi[at] + sums.s[at]) * per_point, kLeastPi, kMostPi));
    }
    return log_off;
  }

  const PreparedModel& model_;
  const SharedPrior& shared_;
  const OwnPriorBlock& block_;
  OwnPriorWorkspace& work_;
  CandidateSelector selector_;
};

/// Data points of the block. Nothing here depends on which of them share a vector.
class OwnPriorPoints {
 public:
  static constexpr bool kTogether = false;

  /// own_first: negative, or from which data point on all have the systems of the workspace for gaps.
  OwnPriorPoints(const PreparedModel& model, const OwnPriorBlock& block, OwnPriorWorkspace& workspace, Index own_first)
      : model_(model), block_(block), work_(workspace), own_first_(own_first) {}

  template <class Tree>
  void Gather(Tree& tree, size_t l, size_t i) {
    const Index n = work_.points[i], at = n * model_.candidates;
    std::uint16_t latents[kMaxCandidates];  // by position
    std::reverse_copy(block_.candidates + at, block_.candidates + at + model_.candidates, latents);
    if (own_first_ < 0) {
      tree.GatherOwn(l, latents, work_.diagonal.data() + at, work_.eta.data() + at, work_.a.data() + at);
      return;
    }
    const GapWorkspace& own = *work_.gaps;
    const Index place = n - own_first_, from = place * model_.candidates;
    tree.GatherSystem(l, latents, own.system.data() + place * Triangle(model_.candidates, 0), own.eta.data() + from,
                      own.a.data() + from);
  }

  double BestOutside(size_t) const { return 0; }
  double Outside(size_t, size_t, double) const { return 0; }
  void Normalize(size_t, size_t, const double*) {}
  void Undone(size_t i) { work_.undone.push_back(work_.points[i]); }

  template <class Tree>
  void Take(const Tree& tree, size_t l, size_t i, double log_sum) {
    const Index n = work_.points[i], at = n * model_.candidates;
    block_.log_sums[n] += log_sum;
    const double* unit = own_first_ < 0 ? nullptr : work_.gaps->own_unit.data() + (n - own_first_) * model_.candidates;
    for (int k = 0; k < model_.candidates; ++k) {
      const int position = model_.candidates - 1 - k;
      const double t = model_.scale[block_.candidates[at + k]] * (unit == nullptr ? 1 : unit[position]);
      block_.probability[at + k] = static_cast<float>(tree.Probability(position, l));
      block_.mean[at + k] = static_cast<float>(t * tree.Mean(position, l));
      block_.second_moment[at + k] = static_cast<float>(t * t * tree.SecondMoment(position, l));
    }
  }

 private:
  const PreparedModel& model_;
  const OwnPriorBlock& block_;
  OwnPriorWorkspace& work_;
  const Index own_first_;
};

/// All points of the workspace.
template <class T>
std::int64_t RunIn(const PreparedModel& model, OwnPriorPoints& points, OwnPriorWorkspace& workspace) {
  using D = hn::ScalableTag<T>;
  DiagonalSlabLanes<D> tree(model, reinterpret_cast<hn::Vec<D>*>(workspace.tree.get()));
  return LaneBatch(tree, points).RunAll(0, workspace.points.size());
}

/// Data points first .. first + count - 1, in the precision asked for where that will do.
std::int64_t RunPoints(const PreparedModel& model, const OwnPriorBlock& block, OwnPriorWorkspace& workspace,
                       Index first, Index count, Index own_first) {
  OwnPriorPoints points(model, block, workspace, own_first);
  workspace.points.resize(static_cast<size_t>(count));
  std::iota(workspace.points.begin(), workspace.points.end(), static_cast<std::uint32_t>(first));
  if (model.precision == Precision::double_precision) return RunIn<double>(model, points, workspace);
  workspace.undone.clear();
  const std::int64_t clamped = RunIn<float>(model, points, workspace);
  workspace.points.swap(workspace.undone);
  return clamped + RunIn<double>(model, points, workspace);
}

std::int64_t ProcessOwnPriorBlock(const PreparedModel& model, const SharedPrior& shared, NeighbourSums* sums,
                                  const OwnPriorBlock& block, OwnPriorWorkspace& workspace) {
  Systems systems(model, shared, block, workspace);
  const Index complete = block.gaps == nullptr ? block.count : block.gaps->complete();
  for (Index n = 0; n < complete; ++n) {
    if (sums == nullptr) {
      systems.Shared(n);
    } else {
      sums->gather(block.gaps == nullptr ? block.first + n : block.first + block.gaps->origin(n));
      systems.Own(n, *sums);
    }
  }
  std::int64_t clamped = RunPoints(model, block, workspace, 0, complete, -1);
  if (complete == block.count) return clamped;
  if (!workspace.gaps) workspace.gaps.emplace(model);
  for (Index first = 0; first < block.gaps->count(); first += kGapRows) {
    const Index count = std::min(kGapRows, block.gaps->count() - first);
    systems.Gaps(first, count, sums);
    clamped += RunPoints(model, block, workspace, complete + first, count, complete + first);
  }
  for (Index n = block.count - block.gaps->empty(); n < block.count; ++n) systems.Empty(n, sums);
  return clamped;
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(ProcessOwnPriorBlock);

OwnPriorWorkspace::OwnPriorWorkspace(const PreparedModel& model, Index block_rows)
    : diagonal(static_cast<size_t>(block_rows * model.candidates)),
      eta(diagonal.size()),
      a(diagonal.size()),
      projected(static_cast<size_t>(model.padded)),
      s(projected.size()),
      m(projected.size()),
      zz(projected.size()),
      gram(projected.size()),
      selection(selection_memory(model, 1)),
      tree(tree_memory(model)) {}

std::int64_t process_own_prior_block(const PreparedModel& model, const SharedPrior& shared, NeighbourSums* sums,
                                     const OwnPriorBlock& block, OwnPriorWorkspace& workspace) {
  return HWY_DYNAMIC_DISPATCH(ProcessOwnPriorBlock)(model, shared, sums, block, workspace);
}

}  // namespace gsc
#endif
