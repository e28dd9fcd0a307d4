// Words of the kernels' language that are made of others, on the emulation.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "cuda/queue/warp.h"

namespace gsc::test {
namespace {

using cuda::kLanes;
using cuda::Lanes;

/// How far the exponential of a float is from the right one, in units in the last place of that.
double units_off(float x, float got) {
  const double expected = std::exp(static_cast<double>(x));
  return (static_cast<double>(got) - expected) / std::ldexp(1.0, std::ilogb(expected) - 23);
}

/// As exact near zero as far from it, and wrong as often one way as the other.
TEST(Words, ExponentialsAreRightAndNotBiased) {
  for (const float scale : {0.01F, 1.0F, 20.0F, 85.0F}) {
    SCOPED_TRACE(scale);
    constexpr int kTimes = 4000;
    double worst = 0, sum = 0;
    for (int i = 0; i < kTimes; ++i) {
      // From -scale to scale/2, which are weights as they occur, none of them a round number.
      const auto x = Lanes<float>::of([&](int l) {
        const auto at = static_cast<float>(i * kLanes + l + 1) / static_cast<float>(kTimes * kLanes);
        return scale * (1.5F * at - 1.0F) * 0.99991F;
      });
      const Lanes<float> got = cuda::exponential(x);
      for (int l = 0; l < kLanes; ++l) {
        const double off = units_off(x.v[l], got.v[l]);
        worst = std::max(worst, std::abs(off));
        sum += off;
      }
    }
    EXPECT_LT(worst, 1.2);
    EXPECT_LT(std::abs(sum) / (kTimes * kLanes), 0.02);
  }
}

TEST(Words, ExponentialsOfWhatCannotBeAreZero) {
  for (const float x : {-200.0F, -1e30F, -std::numeric_limits<float>::max() / 2})
    EXPECT_EQ(cuda::exponential(Lanes<float>(x)).v[0], 0.0F) << x;
  EXPECT_EQ(cuda::exponential(Lanes<float>(0.0F)).v[0], 1.0F);
}

}  // namespace
}  // namespace gsc::test
