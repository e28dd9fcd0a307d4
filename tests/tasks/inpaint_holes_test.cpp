// Holes that are deeper than a patch reaches, in pictures of which values are missing elsewhere, too: they are filled,
// and judged by holes as deep.

#include <gsc/inpaint.h>
#include <gsc/metrics.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "inpaint_support.h"
#include "tasks/inpaint/deep_holes.h"
#include "tasks/inpaint/held_out.h"
#include "tasks/picture/smoothing.h"

namespace gsc::test {
namespace {

/// Root mean square error of a part of the first channel.
double error_in(const Picture& picture, const Picture& clean, Index row, Index col, Index side) {
  const Matrix error = (picture.channels[0] - clean.channels[0]).block(row, col, side, side);
  return std::sqrt(error.squaredNorm() / static_cast<double>(error.size()));
}

TEST(DeepHoles, AreTheSquaresInWhichAllIsMissing) {
  Picture picture = waves(40);
  picture.channels[0].block(5, 6, 9, 9).setConstant(kNan);    // deep enough for 4
  picture.channels[0].block(25, 3, 8, 30).setConstant(kNan);  // not quite
  picture.channels[0].row(9).setConstant(kNan);               // a scratch through the first
  Table<std::uint8_t> expected = Table<std::uint8_t>::Zero(40, 40);
  expected.block(5, 6, 9, 9).setOnes();
  EXPECT_EQ(deep_parts(depth_of_holes(picture), 4), expected);
  expected.block(25, 3, 8, 30).setOnes();
  EXPECT_EQ(deep_parts(depth_of_holes(picture), 3), expected);
  EXPECT_FALSE(deep_parts(depth_of_holes(picture), 5).any());
  EXPECT_FALSE(deep_parts(depth_of_holes(picture), 1000).any());
  // What one channel has is observed; what is beyond the edge is not.
  picture.channels[0].block(0, 0, 5, 5).setConstant(kNan);
  EXPECT_TRUE(deep_parts(depth_of_holes(picture), 4).block(0, 0, 5, 5).isOnes());
  picture.channels.push_back(waves(40).channels[0]);
  EXPECT_FALSE(deep_parts(depth_of_holes(picture), 0).any());
}

/// No whole patch is left beside the hole, so it was not filled at all.
TEST(DeepHoles, AreFilledWhereSingleValuesAreMissingAllOverThePicture) {
  const Picture clean = waves(96);
  for (const double observed : {0.95, 0.5}) {
    Picture damaged = drop_values(clean, observed, false, 3);
    damaged.channels[0].block(30, 40, 26, 26).setConstant(kNan);
    const Picture guess = first_guess(damaged);
    Picture pilot = guess;
    EXPECT_GT(fill_deep_holes(damaged, 9, 1, pilot, {}), 2);
    const double smooth = error_in(guess, clean, 30, 40, 26), shells = error_in(pilot, clean, 30, 40, 26);
    std::cout << "error in the hole: first guess " << smooth << ", shells " << shells << '\n';
    EXPECT_LT(shells, 0.8 * smooth);
    for (Index r = 0; r < 96; ++r)
      for (Index c = 0; c < 96; ++c) {
        if (r >= 25 && r < 61 && c >= 35 && c < 71) continue;
        ASSERT_EQ(pilot.channels[0](r, c), guess.channels[0](r, c)) << "single values keep the first guess";
      }
    EXPECT_GT(inpaint(damaged, quick()).shells, 2);
  }
}

/// A picture of which a share is missing at random, and a square.
Picture with_a_hole(const Picture& clean, double observed, Index row, Index col, Index side) {
  Picture damaged = drop_values(clean, observed, false, 3);
  for (Matrix& channel : damaged.channels) channel.block(row, col, side, side).setConstant(kNan);
  return damaged;
}

TEST(HeldOut, DeepHolesAndSingleValuesAreSetAsideByTheirShares) {
  for (const double observed : {0.95, 0.5, 0.2}) {
    SCOPED_TRACE(observed);
    const Picture before = with_a_hole(waves(200), observed, 20, 40, 30);
    Picture damaged = before;
    const HeldOutSet aside = hold_out(damaged, 3);
    ASSERT_EQ(aside.kinds.size(), 2U);
    EXPECT_FALSE(aside.kinds[0].shaped);
    EXPECT_TRUE(aside.kinds[1].shaped);
    const double all = 200 * 200;
    EXPECT_NEAR((aside.kinds[0].missing + aside.kinds[1].missing) * all, static_cast<double>(missing_values(before)),
                1e-6);
    EXPECT_GE(aside.kinds[1].missing * all, 900);
    EXPECT_LT(aside.kinds[1].missing * all, 1200) << "what chance adds at its edges";
    EXPECT_EQ(aside.deep.cast<int>().sum(), std::lround(aside.kinds[1].missing * all));
    EXPECT_TRUE(aside.deep.block(20, 40, 30, 30).isOnes());
    for (const HeldOutKind& kind : aside.kinds) {
      EXPECT_GT(kind.values.size(), 100U);
      for (const HeldOutValue& one : kind.values) {
        EXPECT_EQ(before.channels[0](one.row, one.col), one.value);
        EXPECT_TRUE(std::isnan(damaged.channels[0](one.row, one.col)));
      }
    }
    for (const HeldOutValue& one : aside.kinds[1].values) EXPECT_EQ(aside.kinds[1].below(one.row, one.col), 1);
    Table<std::int32_t> depth = depth_of_holes(damaged);
    depth.block(15, 35, 40, 40).setZero();
    EXPECT_GE(depth.maxCoeff(), 12) << "what is set aside is as deep";
  }
}

/// Single values beside a hole would be too easy where text and scratches are missing.
TEST(HeldOut, TextBesideADeepHoleIsSetAsideInWindows) {
  Picture damaged = scratches(waves(240));
  damaged.channels[0].block(50, 60, 34, 34).setConstant(kNan);
  const HeldOutSet aside = hold_out(damaged, 3);
  ASSERT_EQ(aside.kinds.size(), 2U);
  for (const HeldOutKind& kind : aside.kinds) {
    EXPECT_TRUE(kind.shaped);
    EXPECT_GT(kind.values.size(), 100U);
    EXPECT_GT(kind.values.back().part, 1U) << "several windows";
    EXPECT_LT(kind.values.back().part, kind.values.size() / 2) << "of several values";
  }
}

/// Single values alone, however many are missing, make no deep holes; nor do holes that nothing is missing beside.
TEST(HeldOut, OneKindIsNotTwo) {
  for (const double observed : {0.5, 0.2, 0.05}) {
    Picture damaged = drop_values(waves(200), observed, false, 3);
    const HeldOutSet aside = hold_out(damaged, 3);
    ASSERT_EQ(aside.kinds.size(), 1U) << observed;
    EXPECT_FALSE(aside.kinds[0].shaped);
  }
  Picture damaged = with_a_hole(waves(200), 1, 20, 40, 30);
  const HeldOutSet aside = hold_out(damaged, 3);
  ASSERT_EQ(aside.kinds.size(), 1U);
  EXPECT_TRUE(aside.kinds[0].shaped);
  EXPECT_EQ(aside.deep.size(), 0);
}

/// Errors of 2 in a sixth of what is missing, and of 12 in deep holes, which are the rest; variances of 1.
TEST(HeldOut, EveryKindWeighsAsMuchAsIsMissingOfIt) {
  const Picture truth = waves(40);
  Picture filled = truth, variance = truth;
  variance.channels[0].setOnes();
  HeldOutSet aside;
  aside.kinds = {{.missing = 0.05}, {.shaped = true, .missing = 0.25}};
  for (std::uint32_t i = 0; i < 1000; ++i) {
    const std::uint32_t row = i / 40, col = i % 40;
    HeldOutKind& kind = aside.kinds[i < 800 ? 0 : 1];
    kind.values.push_back({0, row, col, truth.channels[0](row, col)});
    filled.channels[0](row, col) += i < 800 ? 2 : -12;
  }
  const HeldOut held_out = judge(aside, filled, variance, {});
  EXPECT_EQ(held_out.values, 1000);
  EXPECT_EQ(held_out.deep_values, 200);
  EXPECT_TRUE(held_out.shaped);
  const double square = (0.05 * 4 + 0.25 * 144) / 0.3;
  EXPECT_NEAR(held_out.rmse, std::sqrt(square), 1e-9);
  EXPECT_NEAR(held_out.psnr, 10 * std::log10(255.0 * 255.0 / (square * 0.3)), 1e-9);
  EXPECT_NEAR(held_out.scale, 1, 1e-9) << "two deviations are 2";
  EXPECT_NEAR(held_out.deep_scale, 6, 1e-9) << "two deviations are 12";
  // With noise taken out all values err, and what is observed as single values do.
  const HeldOut noisy = judge(aside, filled, variance, {.kept = false});
  EXPECT_NEAR(noisy.rmse, std::sqrt(0.75 * 4 + 0.25 * 144), 1e-9);
}

/// Two holes were laid, of which one is predicted well. They are the halves, though one has more values.
TEST(HeldOut, ACoverageIsOfHolesThatTheDeviationsDoNotKnow) {
  const Picture truth = waves(40);
  Picture filled = truth, variance = truth;
  variance.channels[0].setOnes();
  HeldOutSet aside;
  aside.kinds = {{.shaped = true, .missing = 0.2}};
  for (std::uint32_t i = 0; i < 400; ++i) {
    const std::uint32_t row = i / 40, col = i % 40;
    aside.kinds[0].values.push_back({0, row, col, truth.channels[0](row, col), i < 300 ? 1U : 2U});
    filled.channels[0](row, col) += i < 300 ? 2 : 12;
  }
  const HeldOut held_out = judge(aside, filled, variance, {});
  EXPECT_NEAR(held_out.scale, 6, 1e-9);
  EXPECT_NEAR(held_out.coverage, 0.75, 1e-9) << "none of the worse hole by the better one, all the other way round";
}

/// Where a single value is like its neighbours, and the middle of a hole like nothing around it.
Picture clouds(Index size) {
  Picture noise;
  noise.depth = PixelDepth::real32;
  noise.channels = {Matrix(size, size)};
  Random random(4);
  for (double& value : noise.channels[0].reshaped()) value = std::normal_distribution<double>()(random);
  Picture picture = smoothed(noise, 2.5);
  picture.depth = PixelDepth::bits8;
  picture.channels[0] = (128 + 300 * picture.channels[0].array()).matrix();
  return picture;
}

/// It was told by single values how good holes are: 37 and 17 dB too much, with 6 and 13 % of the errors
/// in them within two deviations.
TEST(HeldOut, TellsTheErrorOfHolesAmongSingleValues) {
  const Picture clean = clouds(160);
  for (const double observed : {0.95, 0.5}) {
    const Picture damaged = with_a_hole(clean, observed, 60, 70, 32);
    const Inpainted filled = inpaint(damaged, quick());
    const double true_psnr = psnr(clean, filled.picture, 255);
    double within = 0, single = 0, single_within = 0;
    for (Index r = 0; r < 160; ++r)
      for (Index c = 0; c < 160; ++c) {
        if (!std::isnan(damaged.channels[0](r, c))) continue;
        const double error = std::abs(filled.picture.channels[0](r, c) - clean.channels[0](r, c));
        const bool hole = r >= 60 && r < 92 && c >= 70 && c < 102, holds = error <= 2 * filled.std.channels[0](r, c);
        (hole ? within : single_within) += holds ? 1 : 0;
        single += hole ? 0 : 1;
      }
    std::cout << observed << " observed: " << true_psnr << " dB, told " << filled.held_out.psnr
              << "; covered in the hole " << within / (32 * 32) << ", else " << single_within / single << ", scales "
              << filled.held_out.deep_scale << ' ' << filled.held_out.scale << '\n';
    EXPECT_NEAR(filled.held_out.psnr, true_psnr, 4);
    EXPECT_GT(within, 0.85 * 32 * 32);
    EXPECT_GT(single_within, 0.9 * single);
    EXPECT_GT(filled.held_out.deep_values, 100);
  }
}

}  // namespace
}  // namespace gsc::test
