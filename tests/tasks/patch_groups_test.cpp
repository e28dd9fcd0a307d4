// Block matching against brute force, the filter of groups against the formula in double, and what groups do to a
// picture: the same whatever the threads and ranks, and better than the pilot.

#include "tasks/groups/patch_groups.h"

#include <gsc/denoise.h>
#include <gsc/metrics.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "tasks/denoise/plan.h"
#include "tasks/groups/block_matching.h"
#include "tasks/groups/group_filter.h"
#include "tasks/picture/smoothing.h"

namespace gsc::test {
namespace {

Picture noise_picture(Index height, Index width, int channels, std::uint64_t seed) {
  Picture flat;
  flat.channels.assign(static_cast<std::size_t>(channels), Matrix::Constant(height, width, 100));
  return add_noise(flat, 30, false, seed);
}

/// Stripes that bend, so that patches have others like them.
Picture stripes(Index size, int channels = 1) {
  Picture picture;
  for (int c = 0; c < channels; ++c) {
    Matrix pixels(size, size);
    for (Index y = 0; y < size; ++y)
      for (Index x = 0; x < size; ++x) {
        const double bend = 6 * std::sin(static_cast<double>(y) / 20);
        pixels(y, x) = 120 + 80 * std::tanh(3 * std::sin((static_cast<double>(x) + bend) / 3 + c));
      }
    picture.channels.push_back(pixels);
  }
  return picture;
}

double distance(const Picture& picture, Index patch, Index r, Index c, Index row, Index col) {
  double sum = 0;
  for (const Matrix& channel : picture.channels)
    sum += (channel.block(r, c, patch, patch) - channel.block(row, col, patch, patch)).squaredNorm();
  return sum;
}

TEST(BlockMatching, EqualsBruteForce) {
  for (const int channels : {1, 3}) {
    const Picture picture = noise_picture(31, 45, channels, 7);
    const Planes planes(picture);
    for (const Index patch : {1, 5, 8})
      for (const auto& [row, col] : {std::pair<Index, Index>{0, 0}, {12, 20}, {31 - patch, 45 - patch}, {3, 36}}) {
        constexpr Index reach = 9, most = 17;
        std::vector<double> expected;
        for (Index r = std::max<Index>(0, row - reach); r <= std::min(31 - patch, row + reach); ++r)
          for (Index c = std::max<Index>(0, col - reach); c <= std::min(45 - patch, col + reach); ++c)
            expected.push_back(distance(picture, patch, r, c, row, col));
        std::sort(expected.begin(), expected.end());
        std::vector<PatchMatch> matches(most);
        const Index found = BlockMatcher(planes, patch, reach).find(row, col, most, matches.data());
        ASSERT_EQ(found, std::min<Index>(most, static_cast<Index>(expected.size())));
        EXPECT_EQ(matches[0].row, row);
        EXPECT_EQ(matches[0].col, col);
        for (Index k = 0; k < found; ++k) {
          const PatchMatch& match = matches[static_cast<std::size_t>(k)];
          EXPECT_NEAR(match.distance, expected[static_cast<std::size_t>(k)], 1e-4 * expected.back());
          EXPECT_NEAR(match.distance, distance(picture, patch, match.row, match.col, row, col), 1e-4 * expected.back());
        }
      }
  }
}

TEST(BlockMatching, FindsNoMoreThanThereAre) {
  const Planes planes(noise_picture(6, 7, 1, 8));
  std::vector<PatchMatch> matches(100);
  EXPECT_EQ(BlockMatcher(planes, 5, 30).find(1, 2, 100, matches.data()), 6);
  EXPECT_EQ(BlockMatcher(planes, 5, 1).find(0, 0, 100, matches.data()), 4);
}

TEST(Planes, ColoursThereAndBack) {
  const Picture picture = noise_picture(5, 40, 3, 9);
  const Planes planes(picture);
  std::vector<Matrix> back(3, Matrix(5, 40));
  double squares = 0;
  for (Index p = 0; p < 3; ++p)
    for (Index y = 0; y < 5; ++y)
      for (Index x = 0; x < 40; ++x) {
        back[static_cast<std::size_t>(p)](y, x) = planes.row(p, y)[x];
        squares += std::pow(planes.row(p, y)[x], 2);
      }
  double expected = 0;
  for (const Matrix& channel : picture.channels) expected += channel.squaredNorm();
  EXPECT_NEAR(squares / expected, 1, 1e-6);
  to_channels(back);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_LT((back[c] - picture.channels[c]).cwiseAbs().maxCoeff(), 1e-4);
}

/// z = m + C (C + v I)^-1 (y - m), D x D, in double.
TEST(GroupFilter, EqualsTheGaussianPosteriorMean) {
  Random random(3);
  std::normal_distribution<double> normal(0, 1);
  for (const auto& [D, K] : {std::pair<Index, Index>{9, 2}, {16, 5}, {49, 16}, {64, 33}, {49, 48}, {9, 24}, {25, 60}})
    for (const double noise : {2.0, 15.0, 50.0}) {
      Matrix X(D, K), Y(D, K);
      const Vector pattern = Vector::NullaryExpr(D, [&] { return 30 * normal(random); });
      for (Index k = 0; k < K; ++k) {
        const double amount = normal(random);
        for (Index d = 0; d < D; ++d) {
          X(d, k) = 100 + amount * pattern[d] + 5 * normal(random);
          Y(d, k) = X(d, k) + noise * normal(random);
        }
      }
      const Vector mean = X.rowwise().mean();
      const Matrix centred = X.colwise() - mean;
      const Matrix C = centred * centred.transpose() / static_cast<double>(K - 1);
      Matrix S = C;
      S.diagonal().array() += noise * noise;
      const Matrix gains = S.llt().solve(C).transpose();
      Matrix expected = gains * (Y.colwise() - mean);
      expected.colwise() += mean;

      GroupFilter filter(D, K + 3);
      filter.begin(K);
      for (Index k = 0; k < K; ++k)
        for (Index d = 0; d < D; ++d) {
          filter.pilot(d, k) = static_cast<float>(X(d, k));
          filter.noisy(d, k) = static_cast<float>(Y(d, k));
        }
      const float squares = filter.run(static_cast<float>(noise * noise));
      EXPECT_NEAR(squares, gains.squaredNorm(), 0.02 * gains.squaredNorm()) << D << ' ' << K << ' ' << noise;
      for (Index k = 0; k < K; ++k)
        for (Index d = 0; d < D; ++d) EXPECT_NEAR(filter.noisy(d, k), expected(d, k), 0.02 * noise) << D << ' ' << K;
    }
}

TEST(GroupFilter, OneMemberIsThePilot) {
  GroupFilter filter(4, 8);
  filter.begin(1);
  for (Index d = 0; d < 4; ++d) {
    filter.pilot(d, 0) = static_cast<float>(d);
    filter.noisy(d, 0) = 50;
  }
  EXPECT_EQ(filter.run(9), 0);
  for (Index d = 0; d < 4; ++d) EXPECT_EQ(filter.noisy(d, 0), static_cast<float>(d));
}

class Groups : public ::testing::Test {
 protected:
  static GroupOptions options(int threads) {
    GroupOptions options;
    options.sizes = {{6, 16}, {8, 24}};
    options.reach = 10;
    options.threads = threads;
    return options;
  }
  const Picture clean_ = stripes(72, 3);
  const Picture noisy_ = add_noise(clean_, 25, false, 4);
  const Picture pilot_ = smoothed(noisy_, 0.8);
};

TEST_F(Groups, AreBetterThanTheirPilotFromRoundToRound) {
  const Picture once = filter_groups(noisy_, pilot_, 25, options(1));
  const Picture twice = filter_groups(noisy_, once, 25, options(1));
  EXPECT_GT(psnr(clean_, once, 255), psnr(clean_, pilot_, 255) + 1);
  EXPECT_GT(psnr(clean_, twice, 255), psnr(clean_, once, 255));
}

TEST_F(Groups, SameBitsForAnyNumberOfThreads) {
  const Picture one = filter_groups(noisy_, pilot_, 25, options(1));
  for (const int threads : {2, 3, 7}) {
    const Picture several = filter_groups(noisy_, pilot_, 25, options(threads));
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(one.channels[c], several.channels[c]) << threads;
  }
}

TEST_F(Groups, DisagreementIsTheVarianceOfTheSizes) {
  GroupOptions all = options(1), one = all;
  all.sizes = {{4, 16}, {6, 16}, {8, 24}};
  Picture disagreement;
  const Picture mean = filter_groups(noisy_, pilot_, 25, all, {}, &disagreement);
  EXPECT_EQ(mean.channels[0], filter_groups(noisy_, pilot_, 25, all).channels[0]) << "asking changes nothing";
  std::vector<Picture> parts;
  for (const GroupSize& size : all.sizes) {
    one.sizes = {size};
    parts.push_back(filter_groups(noisy_, pilot_, 25, one));
  }
  for (std::size_t c = 0; c < 3; ++c) {
    const Matrix expected_mean = (parts[0].channels[c] + parts[1].channels[c] + parts[2].channels[c]) / 3;
    Matrix expected = Matrix::Zero(expected_mean.rows(), expected_mean.cols());
    for (const Picture& part : parts) expected += (part.channels[c] - expected_mean).cwiseAbs2() / 3;
    EXPECT_LT((mean.channels[c] - expected_mean).cwiseAbs().maxCoeff(), 1e-9);
    EXPECT_LT((disagreement.channels[c] - expected).cwiseAbs().maxCoeff(), 1e-9);
  }
}

TEST_F(Groups, TakeMoreMembersWhereTheyAreAsGoodAsEqual) {
  Picture flat;
  flat.channels.push_back(Matrix::Constant(64, 64, 100));
  const Picture noisy = add_noise(flat, 25, false, 6);
  GroupOptions few = options(1), more = few, all = few;
  few.sizes = {{6, 16}};
  more.sizes = {{6, 16, 48}};
  all.sizes = {{6, 48}};
  const auto error = [&](const Picture& pilot, const GroupOptions& taken) {
    return std::sqrt((filter_groups(noisy, pilot, 25, taken).channels[0] - flat.channels[0]).squaredNorm() / (64 * 64));
  };
  EXPECT_EQ(error(flat, more), error(flat, all)) << "all are equal";
  const Picture pilot = smoothed(noisy, 1.2);
  EXPECT_EQ(error(noisy, more), error(noisy, few)) << "none is";
  more.equal = 1;
  EXPECT_LT(error(pilot, more), error(pilot, few));
  more.equal = 0;
  EXPECT_EQ(error(pilot, more), error(pilot, few)) << "nothing counts as equal";
}

TEST_F(Groups, SmallPicturesAndLargePatches) {
  for (const Index size : {4, 5, 9}) {
    const Picture small = noise_picture(size, size + 3, 1, 5);
    EXPECT_TRUE(filter_groups(small, small, 30, options(1)).channels[0].allFinite()) << size;
  }
}

/// Whatever the pilot: a bright line has no patch like it, so only references cover it.
TEST_F(Groups, EveryPixelIsInAReference) {
  for (const auto& [height, width] : {std::pair<Index, Index>{4, 90}, {90, 4}, {5, 5}, {7, 31}}) {
    Picture flat = noise_picture(height, width, 1, 5);
    flat.channels[0].setConstant(100);
    for (const Index at : {1, 2, 3, 4}) {
      Picture line = flat;
      if (width > height)
        line.channels[0].col(at).setConstant(200);
      else
        line.channels[0].row(std::min(at, height - 1)).setConstant(200);
      GroupOptions narrow = options(1);
      narrow.sizes = {{2, 24}};
      narrow.step = 5;
      EXPECT_TRUE(filter_groups(line, line, 30, narrow).channels[0].allFinite()) << height << " x " << width;
    }
  }
}

TEST_F(Groups, PassOnWhatIsThrownInAThread) {
  expect_error<Error>(
      [&] { filter_groups(noisy_, pilot_, 25, options(2), [](double) -> bool { throw Error("no more of this"); }); },
      {"no more of this"});
}

TEST_F(Groups, StopWhenAsked) {
  int calls = 0;
  expect_error<Interrupted>(
      [&] { filter_groups(noisy_, pilot_, 25, options(1), [&](double) { return ++calls == 3; }); },
      {"interrupted while denoising"});
  EXPECT_LE(calls, 4);
}

}  // namespace
}  // namespace gsc::test
