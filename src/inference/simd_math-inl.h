// exp, 1/sqrt and a coarse log2 for vectors: what the subset tree spends most of its time in.
// Included once per SIMD target (Highway); see kernels.cpp.

#if defined(GSC_SIMD_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GSC_SIMD_MATH_INL_H_
#undef GSC_SIMD_MATH_INL_H_
#else
#define GSC_SIMD_MATH_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// x^0 ... x^n by Horner's rule, highest coefficient first.
template <class D, class V>
HWY_INLINE V Polynomial(D, V, V sum) {
  return sum;
}
template <class D, class V, class... More>
HWY_INLINE V Polynomial(D d, V x, V sum, double next, More... more) {
  return Polynomial(d, x, hn::MulAdd(sum, x, hn::Set(d, static_cast<hn::TFromD<D>>(next))), more...);
}

// 2^n for integral n, times y. AVX-512 has an instruction that also does the right thing out of range; elsewhere the
// exponent is built by adding n to a number whose last bits are an integer (n is clamped by FastExp).
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
HWY_INLINE hn::Vec512<double> ScaleByPowerOf2(hn::Full512<double>, hn::Vec512<double> y, hn::Vec512<double> n) {
  return hn::Vec512<double>{_mm512_scalef_pd(y.raw, n.raw)};
}
HWY_INLINE hn::Vec512<float> ScaleByPowerOf2(hn::Full512<float>, hn::Vec512<float> y, hn::Vec512<float> n) {
  return hn::Vec512<float>{_mm512_scalef_ps(y.raw, n.raw)};
}
#else
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ScaleByPowerOf2(D d, V y, V n) {
  using T = hn::TFromD<D>;
  const hn::RebindToSigned<D> di;
  constexpr int kMantissa = sizeof(T) == 8 ? 52 : 23;
  constexpr int kBias = sizeof(T) == 8 ? 1023 : 127;
  const V magic = hn::Set(d, static_cast<T>((sizeof(T) == 8 ? 6755399441055744.0 : 12582912.0) + kBias));
  return hn::Mul(y, hn::BitCast(d, hn::ShiftLeft<kMantissa>(hn::BitCast(di, hn::Add(n, magic)))));
}
#endif

/// e^x to about 2e-16 (double) or 1e-7 (float) relative for x up to 700 (80); below -700 (-86) the result is zero or a
/// number too small to matter. No NaN, no infinity in, no special cases: 14 instructions where a library exp has 25.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FastExp(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr bool kDouble = sizeof(T) == 8;
  x = hn::Max(x, hn::Set(d, static_cast<T>(kDouble ? -708.0 : -87.0)));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, static_cast<T>(1.4426950408889634))));
  // One constant for ln 2 suffices: its error, 2e-17 n, only matters where e^x has long vanished against 1.
  const V r = hn::NegMulAdd(n, hn::Set(d, static_cast<T>(0.6931471805599453)), x);
  V y;
  // Minimax polynomials on |r| <= ln(2)/2.
  if constexpr (kDouble) {
    y = Polynomial(d, r, hn::Set(d, static_cast<T>(2.748843242522173174e-7)), 2.7639784614008757502e-6,
                   0.00002480191781217470881, 0.00019841171345220724687, 0.0013888888498912757054,
                   0.0083333333846962410949, 0.04166666666842738632, 0.16666666666557655215, 0.49999999999997284366,
                   1.000000000000006449, 1.0);
  } else {
    y = Polynomial(d, r, hn::Set(d, static_cast<T>(0.0082976483565737708856)), 0.041915431473632918525,
                   0.16667575086270982396, 0.49998894413170864188, 0.99999969180774375286, 1.0000000716970164821);
  }
  return ScaleByPowerOf2(d, y, n);
}

/// 1/sqrt(x) for x in [1e-30, 1e30]: the processor's estimate refined by Newton's method, or the plain formula.
#if HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86
HWY_INLINE hn::Vec512<double> ReciprocalSqrt(hn::Full512<double> d, hn::Vec512<double> x) {
  const auto half = hn::Mul(x, hn::Set(d, 0.5)), three_halves = hn::Set(d, 1.5);
  auto y = hn::Vec512<double>{_mm512_rsqrt14_pd(x.raw)};
  y = hn::Mul(y, hn::NegMulAdd(half, hn::Mul(y, y), three_halves));
  return hn::Mul(y, hn::NegMulAdd(half, hn::Mul(y, y), three_halves));
}
HWY_INLINE hn::Vec512<float> ReciprocalSqrt(hn::Full512<float> d, hn::Vec512<float> x) {
  const auto half = hn::Mul(x, hn::Set(d, 0.5f));
  const auto y = hn::Vec512<float>{_mm512_rsqrt14_ps(x.raw)};
  return hn::Mul(y, hn::NegMulAdd(half, hn::Mul(y, y), hn::Set(d, 1.5f)));
}
#else
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ReciprocalSqrt(D d, V x) {
  return hn::Div(hn::Set(d, hn::TFromD<D>{1}), hn::Sqrt(x));
}
#endif

/// log2(x) to 1e-4 for positive normal floats: good enough to rank candidates.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V CoarseLog2(D d, V x) {
  const hn::RebindToSigned<D> di;
  // Split x = 2^e (1 + r) with 1 + r in [sqrt(1/2), sqrt(2)).
  const auto bits = hn::Sub(hn::BitCast(di, x), hn::Set(di, 0x3f3504f3));
  const V e = hn::ConvertTo(d, hn::ShiftRight<23>(bits));
  const auto mantissa = hn::Add(hn::And(bits, hn::Set(di, 0x007fffff)), hn::Set(di, 0x3f3504f3));
  const V r = hn::Sub(hn::BitCast(d, mantissa), hn::Set(d, 1.0f));
  const V ratio =
      Polynomial(d, r, hn::Set(d, 0.254718026375f), -0.390891536722, 0.485310304442, -0.720554956545, 1.44264620218);
  return hn::MulAdd(ratio, r, e);
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#endif
