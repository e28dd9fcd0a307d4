// Which latents may be active together for a data point: the H' best by a score.
//
//   singleton     score_h = log p(y | {h}) up to a constant = score_offset_h + eta^_h^2 / 2      (paper, eq. sel-func)
//   conditional   the first half (rounded up) as above; then repeatedly the best latent given those picked so far: the
//   same score
//                 with J^_hh and eta^_h reduced by the picks (one column of a Cholesky factorisation a pick),
//                 score_h = score_offset_h - 1/2 log d_h + e_h^2 / (2 d_h)
//
// Ranking needs no more than float, whatever the precision of the tree.

#if defined(GSC_CANDIDATES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_CANDIDATES_INL_H_
#undef GSC_CANDIDATES_INL_H_
#else
#define GSC_CANDIDATES_INL_H_
#endif

#include <hwy/highway.h>

#include <cmath>

#include "inference/simd_math-inl.h"
#include "truncated/tree/prepared_model.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

class CandidateSelector {
  using D = hn::ScalableTag<float>;
  using V = hn::Vec<D>;

 public:
  static constexpr Index ScratchFloats(Index padded, int candidates) { return (4 + candidates) * padded; }

  CandidateSelector(const PreparedModel& model, float* scratch)
      : model_(model),
        size_(static_cast<size_t>(model.padded)),
        offset_(scratch),
        score_(offset_ + size_),
        e_(score_ + size_),
        d_(e_ + size_),
        factor_(d_ + size_) {}

  /// eta: one row, scaled, with its offset. Writes the candidates, most promising first.
  void Select(const double* eta, std::uint16_t* candidates) {
    const float* offsets = model_.score_offset.data();
    for (size_t h = 0; h < size_; ++h) {
      e_[h] = static_cast<float>(eta[h]);
      d_[h] = 1;
      offset_[h] = offsets[h];
      score_[h] = offsets[h] + 0.5f * e_[h] * e_[h];
    }
    Choose(candidates);
  }

  /// The same in two steps. First the scores of each latent alone; `point` gives for the latents h, h + 1, ... of a
  /// vector J^_hh, eta^_h and score_offset_h of a data point, all of which may be its own.
  template <class Point>
  void Start(const Point& point) {
    const D d;
    for (size_t h = 0; h < size_; h += hn::Lanes(d)) {
      V pivot, e, offset;
      point(h, pivot, e, offset);
      hn::Store(pivot, d, d_ + h);
      hn::Store(e, d, e_ + h);
      hn::Store(offset, d, offset_ + h);
      hn::Store(Score(pivot, e, offset), d, score_ + h);
    }
  }

  void Start(const double* pivots, const double* eta) {
    const float* offsets = model_.score_offset.data();
    for (size_t h = 0; h < size_; ++h) {
      d_[h] = static_cast<float>(pivots[h]);
      e_[h] = static_cast<float>(eta[h]);
      offset_[h] = offsets[h];
    }
    const D d;
    for (size_t h = 0; h < size_; h += hn::Lanes(d))
      hn::Store(Score(hn::Load(d, d_ + h), hn::Load(d, e_ + h), hn::Load(d, offset_ + h)), d, score_ + h);
  }

  /// Then the candidates, most promising first.
  void Choose(std::uint16_t* candidates) {
    const int alone = Alone(model_);
    for (int k = 0; k < alone; ++k) candidates[k] = Pick();
    if (alone == model_.candidates) return;
    for (int k = 0; k + 1 < alone; ++k) Eliminate<false>(k, candidates, ModelRow(candidates[k]));
    for (int k = alone; k < model_.candidates; ++k) {
      Eliminate<true>(k - 1, candidates, ModelRow(candidates[k - 1]));
      candidates[k] = Pick();
    }
  }

  /// How many candidates are chosen by the score alone.
  static int Alone(const PreparedModel& model) {
    return model.selection == Selection::conditional ? (model.candidates + 1) / 2 : model.candidates;
  }

  /// The latent with the highest score, which is then taken out of the race.
  std::uint16_t Pick() {
    const D d;
    const size_t lanes = hn::Lanes(d);
    V best = hn::Set(d, -INFINITY);
    for (size_t h = 0; h < size_; h += lanes) best = hn::Max(best, hn::Load(d, score_ + h));
    best = hn::MaxOfLanes(d, best);
    size_t winner = size_;
    for (size_t h = 0; h < size_ && winner == size_; h += lanes) {
      const auto found = hn::FindFirstTrue(d, hn::Eq(hn::Load(d, score_ + h), best));
      if (found >= 0) winner = h + static_cast<size_t>(found);
    }
    const auto latents = static_cast<size_t>(model_.latents);
    // Scores beyond the range of float (or NaN from them) rank nothing: then any latent that is still free will do.
    if (winner >= latents || offset_[winner] == kTaken)
      for (winner = 0; offset_[winner] == kTaken;) ++winner;
    offset_[winner] = kTaken;
    score_[winner] = -INFINITY;
    return static_cast<std::uint16_t>(winner);
  }

  /// Column k of the Cholesky factor of J^ for pick k, and what it leaves of d, e and, if kRescore, the scores. `row`:
  /// of J^, that of the pick; its own entry does not matter.
  template <bool kRescore>
  void Eliminate(int k, const std::uint16_t* candidates, const float* row) {
    if (k >= kMaxCandidates) __builtin_unreachable();  // or the compiler warns of loops that overflow
    const D d;
    const size_t lanes = hn::Lanes(d), pick = candidates[k];
    const float r = 1 / std::sqrt(std::max(d_[pick], kFloor));
    const V r_v = hn::Set(d, r), f = hn::Set(d, e_[pick] * r);
    float* column = factor_ + static_cast<size_t>(k) * size_;
    // Four vectors at a time where that fits, so that a broadcast of the factor's entry serves four multiply-adds.
    size_t h = 0;
    for (; h + 4 * lanes <= size_; h += 4 * lanes) {
      V c0 = hn::LoadU(d, row + h), c1 = hn::LoadU(d, row + h + lanes);
      V c2 = hn::LoadU(d, row + h + 2 * lanes), c3 = hn::LoadU(d, row + h + 3 * lanes);
      const float* earlier = factor_;
      for (int q = 0; q < k; ++q, earlier += size_) {
        const V entry = hn::Set(d, earlier[pick]);
        c0 = hn::NegMulAdd(hn::Load(d, earlier + h), entry, c0);
        c1 = hn::NegMulAdd(hn::Load(d, earlier + h + lanes), entry, c1);
        c2 = hn::NegMulAdd(hn::Load(d, earlier + h + 2 * lanes), entry, c2);
        c3 = hn::NegMulAdd(hn::Load(d, earlier + h + 3 * lanes), entry, c3);
      }
      Finish<kRescore>(h, hn::Mul(c0, r_v), f, column);
      Finish<kRescore>(h + lanes, hn::Mul(c1, r_v), f, column);
      Finish<kRescore>(h + 2 * lanes, hn::Mul(c2, r_v), f, column);
      Finish<kRescore>(h + 3 * lanes, hn::Mul(c3, r_v), f, column);
    }
    for (; h < size_; h += lanes) {
      V c = hn::LoadU(d, row + h);
      const float* earlier = factor_;
      for (int q = 0; q < k; ++q, earlier += size_)
        c = hn::NegMulAdd(hn::Load(d, earlier + h), hn::Set(d, earlier[pick]), c);
      Finish<kRescore>(h, hn::Mul(c, r_v), f, column);
    }
  }

 private:
  static constexpr float kTaken = -3e38f;
  static constexpr float kFloor = 1e-6f;  // of reduced pivots

  const float* ModelRow(size_t latent) const { return model_.J_single.data() + latent * size_; }

  /// One vector of the new column c: d -= c^2, e -= c f, and the new scores.
  template <bool kRescore>
  HWY_INLINE void Finish(size_t h, V c, V f, float* column) {
    const D d;
    hn::Store(c, d, column + h);
    const V pivot = hn::NegMulAdd(c, c, hn::Load(d, d_ + h)), e = hn::NegMulAdd(c, f, hn::Load(d, e_ + h));
    hn::Store(pivot, d, d_ + h);
    hn::Store(e, d, e_ + h);
    if constexpr (kRescore) hn::Store(Score(pivot, e, hn::Load(d, offset_ + h)), d, score_ + h);
  }

  static HWY_INLINE V Score(V pivot, V e, V offset) {
    const D d;
    const V kept = hn::Max(pivot, hn::Set(d, kFloor));
    offset = hn::MulAdd(hn::Set(d, -0.34657359f), CoarseLog2(d, kept), offset);  // - log(d)/2
    V inverse = hn::ApproximateReciprocal(kept);  // and one step of Newton's method: a third of a division's time
    inverse = hn::Mul(inverse, hn::NegMulAdd(kept, inverse, hn::Set(d, 2.0f)));
    return hn::MulAdd(hn::Mul(hn::Set(d, 0.5f), e), hn::Mul(e, inverse), offset);
  }

  const PreparedModel& model_;
  size_t size_;
  float *offset_, *score_, *e_, *d_, *factor_;
};

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
