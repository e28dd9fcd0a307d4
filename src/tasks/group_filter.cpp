#include "tasks/group_filter.h"

#include "inference/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tasks/group_filter.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <cassert>

#include "tasks/small_product-inl.h"

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

float Filter(const GroupArrays& g, float variance) {
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
  const float c = static_cast<float>(K - 1) * variance;
  Product(transposed, K, g.values, g.X, width, g.M);
  for (size_t k = 0; k < K; ++k) g.M[k * width + k] += c;
  Invert(g.M, K, width);
  Product(transposed, K, g.values, g.Y, width, g.B);
  Product({g.M, width, 1}, K, K, g.B, width, g.S);
  Product(plain, g.values, K, g.S, width, g.Y);
  for (size_t i = 0; i < g.values; ++i)
    for (size_t k = 0; k < K; ++k) g.Y[i * width + k] += g.mean[i];
  float trace = 0, square = 0;
  for (size_t k = 0; k < K; ++k) {
    trace += g.M[k * width + k];
    for (size_t l = 0; l < K; ++l) square += g.M[k * width + l] * g.M[k * width + l];
  }
  return static_cast<float>(K) - 2 * c * trace + c * c * square;
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {
namespace {

constexpr Index kWidest = 16;  // floats in a vector

}  // namespace

HWY_EXPORT(Filter);

GroupFilter::GroupFilter(Index values, Index members)
    : values_(values), width_((members + kWidest - 1) / kWidest * kWidest) {
  const Index square = members * width_, patches = values * width_;
  memory_ = hwy::AllocateAligned<float>(static_cast<std::size_t>(2 * patches + 3 * square + values));
  float* const X = memory_.get();
  float* const M = X + 2 * patches;
  arrays_ = {static_cast<std::size_t>(values),
             0,
             static_cast<std::size_t>(width_),
             X,
             X + patches,
             M,
             M + square,
             M + 2 * square,
             M + 3 * square};
}

float GroupFilter::run(Index members, float variance) {
  assert(members >= 1 && members <= width_);
  if (members == 1) {
    for (Index d = 0; d < values_; ++d) noisy(d, 0) = pilot(d, 0);
    return 0;
  }
  arrays_.members = static_cast<std::size_t>(members);
  return HWY_DYNAMIC_DISPATCH(Filter)(arrays_, variance);
}

}  // namespace gsc
#endif
