#include "tasks/separate/fastica_kernel.h"

#include "inference/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tasks/separate/fastica_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "inference/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// g(y) and g'(y).
struct Values {
  V g, slope;
};

/// (1 - e^-2|y|) / (1 + e^-2|y|) with the sign of y: right to rounding of 1, which is what sums of many need.
HWY_INLINE Values Tanh(D d, V y) {
  const V one = hn::Set(d, 1.0), small = FastExp(d, hn::Mul(hn::Set(d, -2.0), hn::Abs(y)));
  const V g = hn::CopySign(hn::Div(hn::Sub(one, small), hn::Add(one, small)), y);
  return {g, hn::NegMulAdd(g, g, one)};
}

HWY_INLINE Values Cube(D d, V y) {
  const V square = hn::Mul(y, y);
  return {hn::Mul(square, y), hn::Mul(hn::Set(d, 3.0), square)};
}

HWY_INLINE Values Gauss(D d, V y) {
  const V square = hn::Mul(y, y), bell = FastExp(d, hn::Mul(hn::Set(d, -0.5), square));
  return {hn::Mul(y, bell), hn::NegMulAdd(square, bell, bell)};
}

template <class Function>
HWY_INLINE double Apply(const Function& function, double* values, size_t count) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  V sum = hn::Zero(d);
  size_t n = 0;
  for (; n + lanes <= count; n += lanes) {
    const Values at = function(d, hn::LoadU(d, values + n));
    hn::StoreU(at.g, d, values + n);
    sum = hn::Add(sum, at.slope);
  }
  if (n < count) {
    const Values at = function(d, hn::LoadU(d, values + n));
    hn::StoreU(at.g, d, values + n);
    sum = hn::Add(sum, hn::IfThenElseZero(hn::FirstN(d, count - n), at.slope));
  }
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

double ApplyNonlinearity(Nonlinearity nonlinearity, double* values, size_t count) {
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return Apply([](D d, V y) HWY_ATTR { return Tanh(d, y); }, values, count);
    case Nonlinearity::cube:
      return Apply([](D d, V y) HWY_ATTR { return Cube(d, y); }, values, count);
    case Nonlinearity::gauss:
      return Apply([](D d, V y) HWY_ATTR { return Gauss(d, y); }, values, count);
  }
  return 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(ApplyNonlinearity);

double apply_nonlinearity(Nonlinearity nonlinearity, double* values, Index count) {
  return HWY_DYNAMIC_DISPATCH(ApplyNonlinearity)(nonlinearity, values, static_cast<std::size_t>(count));
}

}  // namespace gsc
#endif
