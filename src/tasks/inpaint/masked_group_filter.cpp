#include "tasks/inpaint/masked_group_filter.h"

#include "inference/simd_targets.h"
#include "math/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tasks/inpaint/masked_group_filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "tasks/picture/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kRowOf = 16;  // floats in the widest vector: rows are multiples

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

double Dot(const double* a, const double* b, size_t count) {
  const hn::ScalableTag<double> d;
  auto sum = hn::Zero(d);
  for (size_t k = 0; k < count; k += hn::Lanes(d)) sum = hn::MulAdd(hn::LoadU(d, a + k), hn::LoadU(d, b + k), sum);
  return hn::GetLane(hn::SumOfLanes(d, sum));
}

/// P, with X X' + c I = L L' and Y = L^-1 X. In double precision: beside X X' single precision keeps too little of c.
void Precision(const MaskedGroupArrays& g, float variance, double* rows) {
  const hn::ScalableTag<float> d;
  const hn::ScalableTag<double> wide;
  const size_t lanes = hn::Lanes(d), K = g.members, width = g.width;
  const size_t stride = (K + kRowOf - 1) / kRowOf * kRowOf;
  const double c = static_cast<double>(std::max<size_t>(K, 2) - 1) * static_cast<double>(variance);
  double *const X = rows, *const Y = X + K * width, *const lower = Y + K * width;
  for (size_t i = 0; i < K * width; ++i) X[i] = static_cast<double>(g.X[i]);
  std::fill_n(lower, K * stride, 0.0);
  for (size_t i = 0; i < K; ++i) {
    double *L = lower + i * stride, *y = Y + i * width;
    std::copy_n(X + i * width, width, y);
    for (size_t j = 0; j < i; ++j) {
      const double* before = lower + j * stride;
      L[j] = (Dot(X + i * width, X + j * width, width) - Dot(L, before, j)) / before[j];
      const auto factor = hn::Set(wide, L[j]);
      for (size_t k = 0; k < width; k += hn::Lanes(wide))
        hn::StoreU(hn::NegMulAdd(factor, hn::LoadU(wide, Y + j * width + k), hn::LoadU(wide, y + k)), wide, y + k);
    }
    const double square = Dot(X + i * width, X + i * width, width) + c - Dot(L, L, i);
    L[i] = std::sqrt(std::max(square, 1e-6 * c));
    for (size_t k = 0; k < width; ++k) {
      y[k] /= L[i];
      g.Y[i * width + k] = static_cast<float>(y[k]);
    }
  }
  Product({g.Y, 1, width}, g.values, K, g.Y, width, g.P);
  const auto scale = hn::Set(d, -1 / variance);
  for (size_t i = 0; i < g.values; ++i) {
    float* row = g.P + i * width;
    row[i] -= 1;
    for (size_t j = 0; j < width; j += lanes) hn::Store(hn::Mul(hn::Load(d, row + j), scale), d, row + j);
  }
}

/// With P_uu = L L', rows of W become [L' | L^-1] from [P_uu | I].
void FillMissing(const MaskedGroupArrays& g, const uint32_t* places, const float* values, size_t observed,
                 const uint32_t* missing, size_t count, float noise) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d), width = g.width;
  const size_t half = (count + kRowOf - 1) / kRowOf * kRowOf, row_width = 2 * half;
  std::fill_n(g.residual, width, 0.0f);
  for (size_t i = 0; i < observed; ++i) g.residual[places[i]] = values[i] - g.mean[places[i]];
  float *const L = g.L, *const z = L + width;
  for (size_t j = 0; j < half; ++j) g.x[j] = g.variance[j] = 0;
  for (size_t i = 0; i < count; ++i) {
    const float* P = g.P + missing[i] * width;
    auto sum = hn::Zero(d);
    for (size_t j = 0; j < width; j += lanes) sum = hn::MulAdd(hn::Load(d, P + j), hn::Load(d, g.residual + j), sum);
    float rest = hn::GetLane(hn::SumOfLanes(d, sum));
    float* row = g.W + i * row_width;
    std::fill_n(row, row_width, 0.0f);
    for (size_t j = 0; j < count; ++j) row[j] = P[missing[j]];
    row[half + i] = 1;
    for (size_t j = 0; j < i; ++j) {
      L[j] = g.W[j * row_width + i];
      rest -= L[j] * z[j];
    }
    size_t first = 0;
    for (; first + 4 * lanes <= row_width; first += 4 * lanes)
      NextRow<4>(row + first, g.W + first, row_width, L, i, row + first);
    for (; first < row_width; first += lanes) NextRow<1>(row + first, g.W + first, row_width, L, i, row + first);
    // No value is less certain than without the others.
    const size_t at = missing[i];
    const float inverse = 1 / std::sqrt(std::max(row[i], 1 / (g.C[at * width + at] + noise)));
    z[i] = rest * inverse;
    const auto scale = hn::Set(d, inverse), step = hn::Set(d, z[i]);
    for (size_t j = 0; j < half; j += lanes) {
      hn::Store(hn::Mul(hn::Load(d, row + j), scale), d, row + j);
      const auto b = hn::Mul(hn::Load(d, row + half + j), scale);
      hn::Store(b, d, row + half + j);
      hn::Store(hn::NegMulAdd(step, b, hn::Load(d, g.x + j)), d, g.x + j);
      hn::Store(hn::MulAdd(b, b, hn::Load(d, g.variance + j)), d, g.variance + j);
    }
  }
  // To their places, which are behind: from the last on.
  for (size_t i = count; i-- > 0;) {
    const size_t at = missing[i];
    const float mean = g.x[i] + g.mean[at], variance = std::max(g.variance[i] - noise, 0.0f);
    g.x[at] = mean;
    g.variance[at] = variance;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {
namespace {

constexpr Index kWidest = 16;  // floats in a vector

Index whole_vectors(Index values) { return (values + kWidest - 1) / kWidest * kWidest; }

}  // namespace

HWY_EXPORT(Prepare);
HWY_EXPORT(Fill);
HWY_EXPORT(Precision);
HWY_EXPORT(FillMissing);

MaskedGroupFilter::MaskedGroupFilter(Index values, Index members)
    : width_(whole_vectors(values)),
      places_(static_cast<std::size_t>(values)),
      observed_(static_cast<std::size_t>(values)),
      missing_(static_cast<std::size_t>(values)),
      rows_(static_cast<std::size_t>(members * (2 * width_ + whole_vectors(members)))) {
  const Index patches = members * width_, square = values * width_;
  const Index few = values / 2 * 2 * whole_vectors(values / 2);
  const auto floats = static_cast<std::size_t>(2 * patches + 3 * square + few + 6 * width_);
  memory_ = aligned<float>(floats);
  std::fill_n(memory_.get(), floats, 0.0f);  // what pads a row is read, too
  float* const X = memory_.get();
  float* const C = X + patches;
  float* const rows = C + 2 * square;
  float* const P = rows + 5 * width_;
  arrays_ = {.values = static_cast<std::size_t>(values),
             .members = 0,
             .width = static_cast<std::size_t>(width_),
             .X = X,
             .C = C,
             .B = C + square,
             .mean = rows,
             .x = rows + width_,
             .variance = rows + 2 * width_,
             .L = rows + 3 * width_,
             .P = P,
             .Y = P + square,
             .W = P + square + patches,
             .residual = P + square + patches + few};
}

void MaskedGroupFilter::prepare(Index members, float ridge) {
  assert(members >= 1);
  arrays_.members = static_cast<std::size_t>(members);
  HWY_DYNAMIC_DISPATCH(Prepare)(arrays_, ridge);
  ridge_ = ridge;
  precise_for_ = -1;
}

void MaskedGroupFilter::fill(Index observed, float noise_variance) {
  assert(observed <= static_cast<Index>(arrays_.values));
  HWY_DYNAMIC_DISPATCH(Fill)
  (arrays_, places_.data(), observed_.data(), static_cast<std::size_t>(observed), noise_variance);
}

void MaskedGroupFilter::fill_missing(Index observed, float noise_variance) {
  const auto values = static_cast<Index>(arrays_.values), missing = values - observed;
  const auto o = static_cast<double>(observed), u = static_cast<double>(missing), D = static_cast<double>(values);
  // Products that either way takes; those of small systems take longer, and the inverse comes first.
  if (missing > values / 2 || 12 * (u * u * u + u * D) > o * o * D / 2 || ridge_ + noise_variance <= 0)
    return fill(observed, noise_variance);
  if (precise_for_ != noise_variance) {
    HWY_DYNAMIC_DISPATCH(Precision)(arrays_, ridge_ + noise_variance, rows_.data());
    precise_for_ = noise_variance;
  }
  Index next = 0, count = 0;
  for (Index at = 0; at < values; ++at) {
    if (next < observed && places_[next] == static_cast<std::uint32_t>(at))
      ++next;
    else
      missing_[count++] = static_cast<std::uint32_t>(at);
  }
  HWY_DYNAMIC_DISPATCH(FillMissing)
  (arrays_, places_.data(), observed_.data(), static_cast<std::size_t>(observed), missing_.data(),
   static_cast<std::size_t>(missing), noise_variance);
}

}  // namespace gsc
#endif
