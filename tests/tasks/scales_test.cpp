// Half the size and back: means of four pixels, and low frequencies that come from them.

#include "tasks/picture/scales.h"

#include <gsc/denoise.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gsc::test {
namespace {

Picture waves(Index height, Index width) {
  Picture picture;
  picture.channels.emplace_back(height, width);
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x)
      picture.channels[0](y, x) =
          100 + 40 * std::sin(static_cast<double>(x) / 12) + 30 * std::cos(static_cast<double>(y) / 15);
  return picture;
}

TEST(Scales, HalvedIsTheMeanOfFour) {
  const Picture picture = waves(7, 10), half = halved(picture);
  ASSERT_EQ(half.height(), 4);
  ASSERT_EQ(half.width(), 5);
  EXPECT_NEAR(half.channels[0](1, 2), picture.channels[0].block(2, 4, 2, 2).mean(), 1e-12);
  EXPECT_NEAR(half.channels[0](3, 4), picture.channels[0].block(6, 8, 1, 2).mean(), 1e-12);  // the last row twice
}

TEST(Scales, ALevelComesAlongEverywhere) {
  Picture picture = waves(9, 12);
  const Matrix before = picture.channels[0];
  Picture coarse = halved(picture);
  coarse.channels[0].array() += 8;
  add_coarse(coarse, 0.25, picture);
  EXPECT_LT((picture.channels[0] - before - Matrix::Constant(9, 12, 2)).cwiseAbs().maxCoeff(), 1e-12);
}

/// What varies slowly has hardly an error left, what varies fast keeps its own.
TEST(Scales, LowFrequenciesBecomeThoseOfTheSmallPicture) {
  const Picture clean = waves(64, 80);
  Picture noisy = add_noise(clean, 20, false, 3);
  const auto slow = [](const Picture& picture) { return halved(halved(halved(picture))).channels[0]; };
  const auto slow_error = [&] { return (slow(noisy) - slow(clean)).norm(); };
  const auto error = [&] { return (noisy.channels[0] - clean.channels[0]).norm(); };
  const double slow_before = slow_error(), before = error();
  add_coarse(halved(clean), 1, noisy);
  EXPECT_LT(slow_error(), 0.5 * slow_before);
  EXPECT_LT(error(), 0.98 * before);
  EXPECT_GT(error(), 0.9 * before);
}

}  // namespace
}  // namespace gsc::test
