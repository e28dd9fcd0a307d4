#include "tasks/masked_group_filter.h"

#include "inference/simd_targets.h"
#include "math/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tasks/masked_group_filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "tasks/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// mean and C of the group.
void Prepare(const MaskedGroupArrays& g, float ridge) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d), K = g.members;
  for (size_t j = 0; j < g.width; j += lanes) {
    auto sum = hn::Zero(d);
    for (size_t k = 0; k < K; ++k) sum = hn::Add(sum, hn::Load(d, g.X + k * g.width + j));
    const auto mean = hn::Mul(sum, hn::Set(d, 1 / static_cast<float>(K)));
    hn::Store(mean, d, g.mean + j);
    for (size_t k = 0; k < K; ++k) {
      float* x = g.X + k * g.width + j;
      hn::Store(hn::Sub(hn::Load(d, x), mean), d, x);
    }
  }
  Product({g.X, 1, g.width}, g.values, K, g.X, g.width, g.C);
  const auto scale = hn::Set(d, 1 / static_cast<float>(std::max<size_t>(K, 2) - 1));
  for (size_t i = 0; i < g.values; ++i) {
    float* row = g.C + i * g.width;
    for (size_t j = 0; j < g.width; j += lanes) hn::Store(hn::Mul(hn::Load(d, row + j), scale), d, row + j);
    row[i] += ridge;
  }
}

/// target[first ...] = C's row less the rows of B before it times L_ij, over kVectors vectors.
template <size_t kVectors>
HWY_INLINE void NextRow(const float* C, const float* B, size_t width, const float* L, size_t before, float* target) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  hn::Vec<decltype(d)> sums[kVectors];
  for (size_t v = 0; v < kVectors; ++v) sums[v] = hn::Load(d, C + v * lanes);
  for (size_t j = 0; j < before; ++j) {
    const auto factor = hn::Set(d, L[j]);
    for (size_t v = 0; v < kVectors; ++v)
      sums[v] = hn::NegMulAdd(factor, hn::Load(d, B + j * width + v * lanes), sums[v]);
  }
  for (size_t v = 0; v < kVectors; ++v) hn::Store(sums[v], d, target + v * lanes);
}

void Fill(const MaskedGroupArrays& g, const uint32_t* places, const float* values, size_t observed, float noise) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d), width = g.width;
  for (size_t j = 0; j < width; ++j) {
    g.x[j] = g.mean[j];
    g.variance[j] = j < g.values ? g.C[j * width + j] : 0;
  }
  float *const L = g.L, *const z = L + width;
  for (size_t i = 0; i < observed; ++i) {
    const size_t at = places[i];
    float* row = g.B + i * width;
    float rest = values[i] - g.mean[at];
    for (size_t j = 0; j < i; ++j) {
      L[j] = g.B[j * width + at];
      rest -= L[j] * z[j];
    }
    const float* C = g.C + at * width;
    size_t first = 0;
    for (; first + 4 * lanes <= width; first += 4 * lanes) NextRow<4>(C + first, g.B + first, width, L, i, row + first);
    for (; first < width; first += lanes) NextRow<1>(C + first, g.B + first, width, L, i, row + first);
    // What rounding leaves of a value that others tell already may be less than nothing.
    const float pivot = std::max(row[at], 0.0f) + noise;
    const float inverse = 1 / std::sqrt(pivot);
    z[i] = rest * inverse;
    const auto scale = hn::Set(d, inverse), step = hn::Set(d, z[i]);
    for (size_t j = 0; j < width; j += lanes) {
      const auto b = hn::Mul(hn::Load(d, row + j), scale);
      hn::Store(b, d, row + j);
      hn::Store(hn::MulAdd(step, b, hn::Load(d, g.x + j)), d, g.x + j);
      hn::Store(hn::NegMulAdd(b, b, hn::Load(d, g.variance + j)), d, g.variance + j);
    }
  }
  for (size_t j = 0; j < width; ++j) g.variance[j] = std::max(g.variance[j], 0.0f);
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {
namespace {

constexpr Index kWidest = 16;  // floats in a vector

}  // namespace

HWY_EXPORT(Prepare);
HWY_EXPORT(Fill);

MaskedGroupFilter::MaskedGroupFilter(Index values, Index members)
    : width_((values + kWidest - 1) / kWidest * kWidest),
      places_(static_cast<std::size_t>(values)),
      observed_(static_cast<std::size_t>(values)) {
  const Index patches = members * width_, square = values * width_;
  const auto floats = static_cast<std::size_t>(patches + 2 * square + 5 * width_);
  memory_ = aligned<float>(floats);
  std::fill_n(memory_.get(), floats, 0.0f);  // what pads a row is read, too
  float* const X = memory_.get();
  float* const C = X + patches;
  float* const rows = C + 2 * square;
  arrays_ = {.values = static_cast<std::size_t>(values),
             .members = 0,
             .width = static_cast<std::size_t>(width_),
             .X = X,
             .C = C,
             .B = C + square,
             .mean = rows,
             .x = rows + width_,
             .variance = rows + 2 * width_,
             .L = rows + 3 * width_};
}

void MaskedGroupFilter::prepare(Index members, float ridge) {
  assert(members >= 1);
  arrays_.members = static_cast<std::size_t>(members);
  HWY_DYNAMIC_DISPATCH(Prepare)(arrays_, ridge);
}

void MaskedGroupFilter::fill(Index observed, float noise_variance) {
  assert(observed <= static_cast<Index>(arrays_.values));
  HWY_DYNAMIC_DISPATCH(Fill)
  (arrays_, places_.data(), observed_.data(), static_cast<std::size_t>(observed), noise_variance);
}

}  // namespace gsc
#endif
