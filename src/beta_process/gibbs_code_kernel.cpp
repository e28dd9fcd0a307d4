#include "beta_process/gibbs_code_kernel.h"

#include "inference/simd_targets.h"
#include "math/counter_random.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "beta_process/gibbs_code_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "hwy/contrib/math/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

// Highway 1.0.3 has no partial loads and stores that stay within an array.
HWY_INLINE V LoadPart(const double* from, size_t lanes) {
  HWY_ALIGN double part[hn::MaxLanes(D())] = {};
  for (size_t i = 0; i < lanes; ++i) part[i] = from[i];
  return hn::Load(D(), part);
}
HWY_INLINE void StorePart(V values, double* to, size_t lanes) {
  HWY_ALIGN double part[hn::MaxLanes(D())];
  hn::Store(values, D(), part);
  for (size_t i = 0; i < lanes; ++i) to[i] = part[i];
}

/// Calls whole(first) for whole vectors, then rest(first, lanes) for the lanes that are left.
template <class Whole, class Rest>
HWY_INLINE void ForVectors(size_t count, Whole&& whole, Rest&& rest) {
  const size_t lanes = hn::Lanes(D());
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) whole(i);
  if (i < count) rest(i, count - i);
}

HWY_INLINE V Threshold(V u, V offset, V precision, V scale) {
  const D d;
  const V logit = hn::Log(d, hn::Div(u, hn::Sub(hn::Set(d, 1.0), u)));
  return hn::Mul(hn::Sub(logit, offset), hn::Mul(precision, scale));
}

void CodeThresholds(size_t count, uint64_t random, const double* HWY_RESTRICT offset,
                    const double* HWY_RESTRICT precision, double noise_precision, double* HWY_RESTRICT thresholds) {
  // A plain loop, which the compiler turns into vectors where the target multiplies 64-bit integers.
  for (size_t i = 0; i < count; ++i) thresholds[i] = CounterRandom::uniform(CounterRandom::at(random, i));
  const D d;
  const V scale = hn::Set(d, 2 / (noise_precision * noise_precision)), half = hn::Set(d, 0.5);
  ForVectors(
      count,
      [&](size_t i) HWY_ATTR {
        hn::StoreU(
            Threshold(hn::LoadU(d, thresholds + i), hn::LoadU(d, offset + i), hn::LoadU(d, precision + i), scale), d,
            thresholds + i);
      },
      [&](size_t i, size_t lanes) HWY_ATTR {
        const V u = hn::IfThenElse(hn::FirstN(d, lanes), LoadPart(thresholds + i, lanes), half);
        StorePart(Threshold(u, LoadPart(offset + i, lanes), LoadPart(precision + i, lanes), scale), thresholds + i,
                  lanes);
      });
}

void CodePrecisions(size_t count, const double* own, const double* logit_pi, const double* slab, double noise,
                    double* precision, double* offset) {
  const D d;
  const V g_e = hn::Set(d, noise), half = hn::Set(d, 0.5);
  const auto offset_of = [&](V g_s, V v, V logit)
                             HWY_ATTR { return hn::MulAdd(half, hn::Log(d, hn::Div(g_s, v)), logit); };
  ForVectors(
      count,
      [&](size_t i) HWY_ATTR {
        const V g_s = hn::LoadU(d, slab + i), v = hn::MulAdd(g_e, hn::LoadU(d, own + i), g_s);
        hn::StoreU(v, d, precision + i);
        hn::StoreU(offset_of(g_s, v, hn::LoadU(d, logit_pi + i)), d, offset + i);
      },
      [&](size_t i, size_t lanes) HWY_ATTR {
        const V g_s = hn::IfThenElse(hn::FirstN(d, lanes), LoadPart(slab + i, lanes), hn::Set(d, 1.0));
        const V v = hn::MulAdd(g_e, LoadPart(own + i, lanes), g_s);
        StorePart(v, precision + i, lanes);
        StorePart(offset_of(g_s, v, LoadPart(logit_pi + i, lanes)), offset + i, lanes);
      });
}

size_t NextEvent(size_t begin, size_t count, const double* correlations, const double* code, const double* own,
                 const double* thresholds) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  size_t h = begin;
  for (; h + lanes <= count; h += lanes) {
    const V a = hn::LoadU(d, code + h);
    const V e = hn::MulAdd(a, hn::LoadU(d, own + h), hn::LoadU(d, correlations + h));
    const auto event = hn::Or(hn::Gt(hn::Mul(e, e), hn::LoadU(d, thresholds + h)), hn::Ne(a, hn::Zero(d)));
    const intptr_t first = hn::FindFirstTrue(d, event);
    if (first >= 0) return h + static_cast<size_t>(first);
  }
  for (; h < count; ++h) {
    const double e = correlations[h] + code[h] * own[h];
    if (code[h] != 0 || e * e > thresholds[h]) return h;
  }
  return count;
}

void Subtract(size_t count, double factor, const double* HWY_RESTRICT row, double* HWY_RESTRICT values) {
  const D d;
  const V f = hn::Set(d, factor);
  ForVectors(
      count,
      [&](size_t i)
          HWY_ATTR { hn::StoreU(hn::NegMulAdd(f, hn::LoadU(d, row + i), hn::LoadU(d, values + i)), d, values + i); },
      [&](size_t i, size_t lanes) HWY_ATTR {
        StorePart(hn::NegMulAdd(f, LoadPart(row + i, lanes), LoadPart(values + i, lanes)), values + i, lanes);
      });
}

double Dot(size_t count, const double* HWY_RESTRICT a, const double* HWY_RESTRICT b) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sum = hn::Zero(d), other = sum;
  size_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    sum = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum);
    other = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), other);
  }
  for (; i < count; i += lanes) {
    const size_t left = count - i < lanes ? count - i : lanes;
    sum = hn::MulAdd(LoadPart(a + i, left), LoadPart(b + i, left), sum);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(sum, other)));
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(CodeThresholds);
HWY_EXPORT(CodePrecisions);
HWY_EXPORT(NextEvent);
HWY_EXPORT(Subtract);
HWY_EXPORT(Dot);

void code_thresholds(std::size_t count, std::uint64_t random, const double* offset, const double* precision,
                     double noise_precision, double* thresholds) {
  HWY_DYNAMIC_DISPATCH(CodeThresholds)(count, random, offset, precision, noise_precision, thresholds);
}

void code_precisions(std::size_t count, const double* own, const double* logit_pi, const double* slab, double noise,
                     double* precision, double* offset) {
  HWY_DYNAMIC_DISPATCH(CodePrecisions)(count, own, logit_pi, slab, noise, precision, offset);
}

std::size_t next_event(std::size_t begin, std::size_t count, const double* correlations, const double* code,
                       const double* own, const double* thresholds) {
  return HWY_DYNAMIC_DISPATCH(NextEvent)(begin, count, correlations, code, own, thresholds);
}

void subtract(std::size_t count, double factor, const double* row, double* values) {
  HWY_DYNAMIC_DISPATCH(Subtract)(count, factor, row, values);
}

double dot(std::size_t count, const double* a, const double* b) { return HWY_DYNAMIC_DISPATCH(Dot)(count, a, b); }

}  // namespace gsc
#endif
