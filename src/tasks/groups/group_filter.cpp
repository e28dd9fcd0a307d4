#include "tasks/groups/group_filter.h"

#include "inference/simd_targets.h"
#include "math/aligned.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tasks/groups/group_filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>

#include "tasks/picture/small_product-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// M = M^-1 by Gauss and Jordan; positive definite, so its pivots are.
void Invert(float* M, size_t size, size_t width) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  for (size_t k = 0; k < size; ++k) {
    float* pivot_row = M + k * width;
    const auto inverse = hn::Set(d, 1 / pivot_row[k]);
    pivot_row[k] = 1;
    for (size_t j = 0; j < width; j += lanes) hn::Store(hn::Mul(hn::Load(d, pivot_row + j), inverse), d, pivot_row + j);
    for (size_t i = 0; i < size; ++i) {
      if (i == k) continue;
      float* row = M + i * width;
      const auto factor = hn::Set(d, row[k]);
      row[k] = 0;
      for (size_t j = 0; j < width; j += lanes)
        hn::Store(hn::NegMulAdd(factor, hn::Load(d, pivot_row + j), hn::Load(d, row + j)), d, row + j);
    }
  }
}

/// n - 2 c trace(M^-1) + c^2 |M^-1|^2
float SquaredGains(const float* inverse, size_t n, size_t width, float c) {
  float trace = 0, square = 0;
  for (size_t k = 0; k < n; ++k) {
    trace += inverse[k * width + k];
    for (size_t l = 0; l < n; ++l) square += inverse[k * width + l] * inverse[k * width + l];
  }
  return static_cast<float>(n) - 2 * c * trace + c * c * square;
}

/// M is K x K. Behind the last member there are zeros.
float FilterOfFewMembers(const GroupArrays& g, float c) {
  const size_t K = g.members, width = g.width;
  for (size_t i = 0; i < g.values; ++i) {
    float *x = g.X + i * width, *y = g.Y + i * width;
    float sum = 0;
    for (size_t k = 0; k < K; ++k) sum += x[k];
    const float mean = g.mean[i] = sum / static_cast<float>(K);
    for (size_t k = 0; k < width; ++k) {
      x[k] = k < K ? x[k] - mean : 0;
      y[k] = k < K ? y[k] - mean : 0;
    }
  }
  const Entries transposed{g.X, 1, width}, plain{g.X, width, 1};
  Product(transposed, K, g.values, g.X, width, g.M);
  for (size_t k = 0; k < K; ++k) g.M[k * width + k] += c;
  Invert(g.M, K, width);
  Product(transposed, K, g.values, g.Y, width, g.B);
  Product({g.M, width, 1}, K, K, g.B, width, g.S);
  Product(plain, g.values, K, g.S, width, g.Y);
  for (size_t i = 0; i < g.values; ++i)
    for (size_t k = 0; k < K; ++k) g.Y[i * width + k] += g.mean[i];
  return SquaredGains(g.M, K, width, c);
}

/// M is D x D. Behind the last value there are zeros.
float FilterOfFewValues(const GroupArrays& g, float c) {
  const hn::ScalableTag<float> d;
  const size_t K = g.members, D = g.values, width = g.width;
  for (size_t i = 0; i < width; i += hn::Lanes(d)) {
    auto sum = hn::Zero(d);
    for (size_t k = 0; k < K; ++k) sum = hn::Add(sum, hn::Load(d, g.X + k * width + i));
    const auto mean = hn::Mul(sum, hn::Set(d, 1 / static_cast<float>(K)));
    hn::Store(mean, d, g.mean + i);
    for (size_t k = 0; k < K; ++k)
      for (float* at : {g.X + k * width + i, g.Y + k * width + i}) hn::Store(hn::Sub(hn::Load(d, at), mean), d, at);
  }
  Product({g.X, 1, width}, D, K, g.X, width, g.M);
  for (size_t i = 0; i < D; ++i) g.M[i * width + i] += c;
  Invert(g.M, D, width);
  Product({g.Y, width, 1}, K, D, g.M, width, g.B);
  const auto minus_c = hn::Set(d, -c);
  for (size_t k = 0; k < K; ++k)
    for (size_t i = 0; i < width; i += hn::Lanes(d)) {
      float* y = g.Y + k * width + i;
      const auto kept = hn::MulAdd(minus_c, hn::Load(d, g.B + k * width + i), hn::Load(d, y));
      hn::Store(hn::Add(kept, hn::Load(d, g.mean + i)), d, y);
    }
  return SquaredGains(g.M, D, width, c);
}

float Filter(const GroupArrays& g, float variance) {
  const float c = static_cast<float>(g.members - 1) * variance;
  return g.by_value ? FilterOfFewMembers(g, c) : FilterOfFewValues(g, c);
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {
namespace {

constexpr Index kWidest = 16;  // floats in a vector

Index padded(Index count) { return (count + kWidest - 1) / kWidest * kWidest; }

/// Multiply-adds of the two ways: 3 K^2 D + 2 K^3 against 2 D^2 K + D^3.
bool few_members(Index values, Index members) {
  const double ratio = static_cast<double>(values) / static_cast<double>(members);
  return 3 * ratio + 2 < ratio * ratio * (2 + ratio);
}

}  // namespace

HWY_EXPORT(Filter);

GroupFilter::GroupFilter(Index values, Index members) : values_(values) {
  // Whichever way a group of up to so many members goes, and whichever of its sides is padded.
  const Index largest = padded(std::max(values, members));
  memory_ = aligned<float>(static_cast<std::size_t>(5 * largest * largest + largest));
  arrays_ = {.values = static_cast<std::size_t>(values),
             .members = 0,
             .width = 0,
             .by_value = true,
             .X = memory_.get(),
             .Y = memory_.get() + largest * largest,
             .M = memory_.get() + 2 * largest * largest,
             .B = memory_.get() + 3 * largest * largest,
             .S = memory_.get() + 4 * largest * largest,
             .mean = memory_.get() + 5 * largest * largest};
}

void GroupFilter::begin(Index members) {
  arrays_.members = static_cast<std::size_t>(members);
  arrays_.by_value = members == 1 || few_members(values_, members);
  const Index width = padded(arrays_.by_value ? members : values_);
  arrays_.width = static_cast<std::size_t>(width);
  value_stride_ = arrays_.by_value ? width : 1;
  member_stride_ = arrays_.by_value ? 1 : width;
  if (arrays_.by_value) return;
  for (Index k = 0; k < members; ++k)
    for (float* rows : {arrays_.X, arrays_.Y}) std::fill(rows + k * width + values_, rows + (k + 1) * width, 0.0f);
}

float GroupFilter::run(float variance) {
  assert(arrays_.members >= 1);
  if (arrays_.members == 1) {
    for (Index d = 0; d < values_; ++d) noisy(d, 0) = pilot(d, 0);
    return 0;
  }
  return HWY_DYNAMIC_DISPATCH(Filter)(arrays_, variance);
}

}  // namespace gsc
#endif
