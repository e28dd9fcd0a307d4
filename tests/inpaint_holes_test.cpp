// Holes that are deeper than a patch reaches, in pictures of which values are missing elsewhere, too: they are filled,
// and judged by holes as deep.

#include <gsc/inpaint.h>
#include <gsc/metrics.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>

#include "inpaint_support.h"
#include "tasks/deep_holes.h"
#include "tasks/held_out.h"
#include "tasks/inpaint_pilot.h"

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

}  // namespace
}  // namespace gsc::test
