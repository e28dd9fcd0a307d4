#include "factored/kernel.h"

#include "inference/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "factored/kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>

#include "factored/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Points begin .. end-1 of a run: few enough that their eta stay in the first-level cache.
void RunPoints(const FactoredModel& model, const FactoredRun& run, size_t begin, size_t end) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  const auto stride = static_cast<size_t>(run.stride), count = static_cast<size_t>(run.count);
  const auto points = static_cast<size_t>(run.points), first = static_cast<size_t>(run.first);
  const V zero = hn::Zero(d);
  for (size_t i = 0; i < count; ++i) {
    const FactoredLatent& latent = model.factors[first + i];
    const double* gram = model.gram.data() + (first + i) * static_cast<size_t>(model.latents) + first;
    const V tau2 = hn::Set(d, latent.tau2), offset = hn::Set(d, latent.offset), logit = hn::Set(d, latent.logit);
    const V own = hn::Set(d, latent.gram), half_own = hn::Set(d, 0.5 * latent.gram), unit = hn::Set(d, latent.unit);
    V sum_gamma = zero, sum_second = zero;
    for (size_t n = begin; n < end; n += hn::Lanes(d)) {
      double* x = run.x + i * stride + n;
      double* eta = run.eta + i * stride + n;
      const V before = hn::Load(d, x);
      const V e = hn::MulAdd(own, before, hn::Load(d, eta));
      const auto updated = UpdateFactor(d, e, half_own, tau2, offset, logit);
      const V delta = hn::Sub(updated.x, before);
      hn::Store(updated.x, d, x);
      for (size_t j = i + 1; j < count; ++j) {
        double* other = run.eta + j * stride + n;
        hn::Store(hn::NegMulAdd(hn::Set(d, gram[j]), delta, hn::Load(d, other)), d, other);
      }
      hn::Store(hn::Add(hn::Load(d, run.local + n), updated.local), d, run.local + n);
      if (run.gamma != nullptr) {
        hn::Store(updated.gamma, d, run.gamma + i * stride + n);
        hn::Store(updated.second, d, run.second + i * stride + n);
        hn::Store(hn::Max(hn::Load(d, run.change + n), hn::Mul(unit, hn::Abs(delta))), d, run.change + n);
      } else {
        const auto real = hn::FirstN(d, points - n);
        sum_gamma = hn::Add(sum_gamma, hn::IfThenElseZero(real, updated.gamma));
        sum_second = hn::Add(sum_second, hn::IfThenElseZero(real, updated.second));
      }
    }
    run.sum_gamma[i] += hn::GetLane(hn::SumOfLanes(d, sum_gamma));
    run.sum_second[i] += hn::GetLane(hn::SumOfLanes(d, sum_second));
  }
}

void RunFactored(const FactoredModel& model, const FactoredRun& run) {
  constexpr size_t kChunk = 64;
  const auto points = static_cast<size_t>(run.points);
  for (size_t begin = 0; begin < points; begin += kChunk)
    RunPoints(model, run, begin, std::min(begin + kChunk, points));
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(RunFactored);

void run_factored(const FactoredModel& model, const FactoredRun& run) { HWY_DYNAMIC_DISPATCH(RunFactored)(model, run); }

}  // namespace gsc
#endif
