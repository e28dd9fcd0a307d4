// The update of one latent of as many data points as a vector has lanes; formulas in factored_model.h.

#if defined(GSC_FACTORED_UPDATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_FACTORED_UPDATE_INL_H_
#undef GSC_FACTORED_UPDATE_INL_H_
#else
#define GSC_FACTORED_UPDATE_INL_H_
#endif

#include <hwy/highway.h>

#include "hwy/contrib/math/math-inl.h"
#include "inference/simd_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct UpdatedFactor {
  V x, gamma, second;  ///< <s z>, <s>, <(s z)^2>
  V local;             ///< softplus(logit gamma) - x e + 1/2 G x^2
};

/// e: what the data and the other latents say; half_own: G_hh / 2; logit: of gamma where e is zero.
template <class D, class V = hn::Vec<D>>
HWY_INLINE UpdatedFactor<V> UpdateFactor(D d, V e, V half_own, V tau2, V offset, V logit) {
  const V zero = hn::Zero(d), one = hn::Set(d, 1.0);
  const V total = hn::Add(e, offset), nu = hn::Mul(tau2, total);
  const V half_tau2 = hn::Mul(hn::Set(d, 0.5), tau2);
  const V l = hn::MulAdd(hn::Mul(half_tau2, e), hn::Add(total, offset), logit);
  const V small = FastExp(d, hn::Neg(hn::Abs(l))), all = hn::Add(one, small);
  const V gamma = hn::Div(hn::IfThenElse(hn::Ge(l, zero), one, small), all);
  const V softplus = hn::Add(hn::Max(l, zero), hn::Log(d, all));
  const V x = hn::Mul(gamma, nu), second = hn::Mul(gamma, hn::MulAdd(nu, nu, tau2));
  return {x, gamma, second, hn::Add(softplus, hn::Mul(x, hn::MulSub(half_own, x, e)))};
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
