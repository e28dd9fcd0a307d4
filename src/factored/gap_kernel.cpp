#include "factored/gap_kernel.h"

#include "inference/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "factored/gap_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "factored/update-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// sum_d weights_d rows_d, of as many points as there are lanes.
template <class D>
HWY_INLINE hn::Vec<D> WeightedSum(D d, const double* weights, size_t dimensions, const double* rows, size_t stride) {
  auto even = hn::Zero(d), odd = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 <= dimensions; i += 2) {
    even = hn::MulAdd(hn::Set(d, weights[i]), hn::Load(d, rows + i * stride), even);
    odd = hn::MulAdd(hn::Set(d, weights[i + 1]), hn::Load(d, rows + (i + 1) * stride), odd);
  }
  if (i < dimensions) even = hn::MulAdd(hn::Set(d, weights[i]), hn::Load(d, rows + i * stride), even);
  return hn::Add(even, odd);
}

void RunFactoredGaps(const FactoredModel& model, const FactoredGapRun& run) {
  const hn::ScalableTag<double> d;
  using V = hn::Vec<decltype(d)>;
  const auto stride = static_cast<size_t>(run.stride), points = static_cast<size_t>(run.points);
  const auto dimensions = static_cast<size_t>(model.dimensions), latents = static_cast<size_t>(model.latents);
  for (size_t n = 0; n < points; n += hn::Lanes(d)) {
    hn::Store(hn::Zero(d), d, run.local + n);
    hn::Store(hn::Zero(d), d, run.change + n);
  }
  for (size_t i = 0; i < latents; ++i) {
    const V offset = hn::Set(d, model.factors[i].offset), unit = hn::Set(d, model.factors[i].unit);
    const double* projection = model.projection.data() + i * dimensions;
    const double* basis = model.gaps->basis.data() + i * dimensions;
    for (size_t n = 0; n < points; n += hn::Lanes(d)) {
      const size_t at = i * stride + n;
      const V before = hn::Load(d, run.x + at), own = hn::Load(d, run.own + at);
      const V e = hn::MulAdd(own, before, WeightedSum(d, projection, dimensions, run.residual + n, stride));
      const auto updated = UpdateFactor(d, e, hn::Mul(hn::Set(d, 0.5), own), hn::Load(d, run.tau2 + at), offset,
                                        hn::Load(d, run.logit + at));
      const V delta = hn::Sub(updated.x, before);
      hn::Store(updated.x, d, run.x + at);
      hn::Store(updated.gamma, d, run.gamma + at);
      hn::Store(updated.second, d, run.second + at);
      hn::Store(hn::Add(hn::Load(d, run.local + n), updated.local), d, run.local + n);
      hn::Store(hn::Max(hn::Load(d, run.change + n), hn::Mul(unit, hn::Abs(delta))), d, run.change + n);
      for (size_t k = 0; k < dimensions; ++k) {
        double* residual = run.residual + k * stride + n;
        const V step = hn::Mul(hn::Set(d, basis[k]), delta);
        hn::Store(hn::NegMulAdd(hn::Load(d, run.observed + k * stride + n), step, hn::Load(d, residual)), d, residual);
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(RunFactoredGaps);

void run_factored_gaps(const FactoredModel& model, const FactoredGapRun& run) {
  HWY_DYNAMIC_DISPATCH(RunFactoredGaps)(model, run);
}

}  // namespace gsc
#endif
