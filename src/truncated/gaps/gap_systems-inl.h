// Candidates of data points with gaps, and the system of each on them.
//
// `conditional` reduces each latent's score by a column of J^_n for every pick, and that column is a data point's own:
//
//   G^_n(h, pick) = sum over observed d of basis(pick, d) basis(h, d)
//
// so pick k of some data points is made first, and then one matrix product has all their columns.

#if defined(GSC_GAP_SYSTEMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_GAP_SYSTEMS_INL_H_
#undef GSC_GAP_SYSTEMS_INL_H_
#else
#define GSC_GAP_SYSTEMS_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "truncated/gaps/gap_kernel.h"
#include "truncated/tree/candidates-inl.h"
#include "truncated/tree/subset_tree-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// sum_d x_d y_d
inline double Dot(const double* x, const double* y, size_t size) {
  const hn::ScalableTag<double> d;
  const size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  size_t i = 0;
  for (; i + lanes <= size; i += lanes) sum = hn::MulAdd(hn::LoadU(d, x + i), hn::LoadU(d, y + i), sum);
  double total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < size; ++i) total += x[i] * y[i];
  return total;
}

/// G^_n on these latents: its lower triangle, by rows.
inline void OwnGram(const GapModel& model, const double* observed, const std::uint16_t* latents, int count,
                    double* gram, double* scratch) {
  const Index D = model.basis.cols();
  for (int p = 0; p < count; ++p) {
    const double* row = model.basis.row(latents[p]).data();
    for (Index d = 0; d < D; ++d) scratch[d] = row[d] * observed[d];
    for (int q = 0; q <= p; ++q) *gram++ = Dot(scratch, model.basis.row(latents[q]).data(), static_cast<size_t>(D));
  }
}

/// J^_hh, eta^_h and a_h of a data point.
struct OnLatent {
  double diagonal, eta, a;
};

/// The tree's system of a data point, into place `at` of the workspace. With a unit of its own for each latent, r =
/// 1/sqrt(J^_hh), J has a unit diagonal again, and pivots in (0, 1] however little is observed; a full slab's tree does
/// not need that. on_latent(h) returns OnLatent.
template <class Function>
void OwnSystem(const PreparedModel& model, const double* observed, const std::uint16_t* candidates, Index at,
               GapWorkspace& work, const SharedGram* shared, const Function& on_latent) {
  const int size = model.candidates;
  std::uint16_t latents[kMaxCandidates];
  std::reverse_copy(candidates, candidates + size, latents);
  double* system = work.system.data() + at * Triangle(size, 0);
  double* eta = work.eta.data() + at * size;
  double* a = work.a.data() + at * size;
  double* unit = work.own_unit.data() + at * size;
  if (shared == nullptr) {
    OwnGram(*model.gaps, observed, latents, size, system, work.scratch.data());
  } else {
    for (int p = 0; p < size; ++p)
      for (int q = 0; q <= p; ++q) system[Triangle(p, q)] = shared->gram(latents[p], latents[q]);
  }
  for (int p = 0; p < size; ++p) {
    const OnLatent own = on_latent(latents[p]);
    if (model.full_slab) {
      unit[p] = 1;
      eta[p] = own.eta - model.eta_offset[latents[p]];
      continue;
    }
    unit[p] = 1 / std::sqrt(own.diagonal);
    eta[p] = own.eta * unit[p];
    a[p] = own.a + std::log(unit[p]);
    for (int q = 0; q < p; ++q) system[Triangle(p, q)] *= unit[p] * unit[q];
    system[Triangle(p, p)] = 1;
  }
}

/// Candidates of up to kGapRows data points.
class GapSelection {
 public:
  /// shared: of all these data points, or null.
  GapSelection(const PreparedModel& model, GapWorkspace& workspace, const SharedGram* shared = nullptr)
      : model_(model), work_(workspace), shared_(shared), alone_(CandidateSelector::Alone(model)) {}

  /// Where a data point's scores are started (CandidateSelector::Start).
  CandidateSelector Of(Index n) {
    return {model_, work_.selection.get() + n * CandidateSelector::ScratchFloats(model_.padded, model_.candidates)};
  }

  /// When all are started: the candidates of each, most promising first. `observed`: count x D, `candidates`: count x
  /// H'.
  void Choose(Index count, const double* observed, std::uint16_t* candidates) {
    const int most = model_.candidates;
    for (Index n = 0; n < count; ++n) {
      CandidateSelector selector = Of(n);
      for (int k = 0; k < alone_; ++k) candidates[n * most + k] = selector.Pick();
    }
    if (alone_ == most) return;
    Columns(count, observed, candidates, 0, alone_);
    for (Index n = 0; n < count; ++n) {
      CandidateSelector selector = Of(n);
      std::uint16_t* mine = candidates + n * most;
      for (int k = 0; k + 1 < alone_; ++k) selector.Eliminate<false>(k, mine, Column(mine[k], n, k, alone_));
      selector.Eliminate<true>(alone_ - 1, mine, Column(mine[alone_ - 1], n, alone_ - 1, alone_));
      mine[alone_] = selector.Pick();
    }
    for (int k = alone_ + 1; k < most; ++k) {
      Columns(count, observed, candidates, k - 1, 1);
      for (Index n = 0; n < count; ++n) {
        CandidateSelector selector = Of(n);
        std::uint16_t* mine = candidates + n * most;
        selector.Eliminate<true>(k - 1, mine, Column(mine[k - 1], n, 0, 1));
        mine[k] = selector.Pick();
      }
    }
  }

 private:
  /// The columns of picks first .. first + picks - 1. Always the same number of rows goes into the product, so that a
  /// data point's numbers do not depend on the others.
  void Columns(Index count, const double* observed, const std::uint16_t* candidates, int first, int picks) {
    if (shared_ != nullptr) return;
    const Index D = model_.dimensions, rows = kGapRows * picks;
    for (Index n = 0; n < count; ++n)
      for (int k = 0; k < picks; ++k) {
        const double* basis = model_.gaps->basis.row(candidates[n * model_.candidates + first + k]).data();
        float* pick = work_.picks.row(n * picks + k).data();
        for (Index d = 0; d < D; ++d) pick[d] = static_cast<float>(basis[d] * observed[n * D + d]);
      }
    work_.picks.middleRows(count * picks, rows - count * picks).setZero();
    product(rows, work_.picks, model_.gaps->columns, work_.columns);
  }

  const float* Column(Index latent, Index n, int k, int picks) const {
    return shared_ != nullptr ? shared_->single.row(latent).data() : work_.columns.row(n * picks + k).data();
  }

  const PreparedModel& model_;
  GapWorkspace& work_;
  const SharedGram* shared_;
  const int alone_;
};

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
