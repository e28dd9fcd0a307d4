// What is done to the rows of a whole picture by several threads: the same bits as by one, and as the plain formula.

#include <gsc/denoise.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "data/sums.h"
#include "expect_error.h"
#include "tasks/denoise/deviation.h"
#include "tasks/groups/patch_groups.h"
#include "tasks/noise/cosine_blocks.h"
#include "tasks/picture/parallel_rows.h"
#include "tasks/picture/patches.h"
#include "tasks/picture/planes.h"
#include "tasks/picture/smoothing.h"

namespace gsc::test {
namespace {

constexpr Index kHeight = 211, kWidth = 307;  // worth three threads
constexpr int kThreads = 3;

Picture some_picture(std::uint64_t seed, double level = 100) {
  Picture flat;
  flat.channels.assign(3, Matrix::Constant(kHeight, kWidth, level));
  return add_noise(flat, 20, false, seed);
}

void expect_equal(const Picture& one, const Picture& other) {
  ASSERT_EQ(one.channels.size(), other.channels.size());
  for (std::size_t c = 0; c < one.channels.size(); ++c) EXPECT_EQ(one.channels[c], other.channels[c]) << c;
}

TEST(LargePicture, EveryRowIsVisitedOnce) {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> visits(100);
    parallel_rows(100, 10000, threads, [&](Index row) { ++visits[static_cast<std::size_t>(row)]; });
    for (const auto& count : visits) EXPECT_EQ(count, 1);
  }
  parallel_rows(0, 10, 2, [](Index) { FAIL() << "there are no rows"; });
}

TEST(LargePicture, ThreadsDoNotChangeSmoothing) {
  const Picture picture = some_picture(1);
  for (const double pixels : {0.4, 2.0}) {
    const Picture one = smoothed(picture, pixels, 1), several = smoothed(picture, pixels, kThreads);
    expect_equal(one, several);
    // Down first, then across; terms are added in this order.
    const auto reach = static_cast<Index>(std::ceil(3 * pixels));
    Vector kernel(2 * reach + 1);
    for (Index i = -reach; i <= reach; ++i)
      kernel[i + reach] = std::exp(-static_cast<double>(i * i) / (2 * pixels * pixels));
    kernel /= kernel.sum();
    double expected = 0;
    for (Index x = -reach; x <= reach; ++x) {
      double down = 0;
      for (Index y = -reach; y <= reach; ++y) down += kernel[y + reach] * picture.channels[1](100 + y, 200 + x);
      expected += kernel[x + reach] * down;
    }
    EXPECT_DOUBLE_EQ(several.channels[1](100, 200), expected);
  }
}

TEST(LargePicture, ThreadsDoNotChangePlanes) {
  const Picture picture = some_picture(2);
  for (const Colours colours : {Colours::turned, Colours::kept}) {
    const Planes one(picture, colours, 1), several(picture, colours, kThreads);
    for (Index p = 0; p < 3; ++p)
      for (Index y = 0; y < kHeight; ++y)
        for (Index x = 0; x < one.stride(); ++x) ASSERT_EQ(one.row(p, y)[x], several.row(p, y)[x]);
  }
  Picture dark = picture;
  dark.channels[1](200, 300) = -1000;
  for (const int threads : {1, kThreads}) EXPECT_EQ(Planes(dark, Colours::kept).largest(threads), 1000);
  std::vector<Matrix> one = picture.channels, several = one;
  to_channels(one, 1);
  to_channels(several, kThreads);
  for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(one[c], several[c]);
}

TEST(LargePicture, ThreadsDoNotChangeAverages) {
  const Picture value = some_picture(3);
  Picture one = some_picture(4), several = one;
  const double first = one.channels[2](5, 6);
  average_in(one, value, 2, 1);
  average_in(several, value, 2, kThreads);
  expect_equal(one, several);
  EXPECT_NEAR(one.channels[2](5, 6), (first + value.channels[2](5, 6)) / 2, 1e-12);
}

TEST(LargePicture, ThreadsDoNotChangeGroups) {
  const Picture noisy = some_picture(12), pilot = smoothed(noisy, 1);
  GroupOptions options;
  options.sizes = {{.patch = 4, .members = 4}, {.patch = 6, .members = 5}};
  options.reach = 2;
  options.step = 4;
  std::vector<Picture> means, variances(2);
  for (const int threads : {1, kThreads}) {
    options.threads = threads;
    means.push_back(filter_groups(noisy, pilot, 20, options, {}, &variances[means.size()]));
  }
  expect_equal(means[0], means[1]);
  expect_equal(variances[0], variances[1]);
  EXPECT_GT(variances[0].channels[1].sum(), 0);
}

TEST(LargePicture, ThreadsDoNotChangeDeviations) {
  const Picture noisy = some_picture(5), denoised = some_picture(6), disagreement = some_picture(7, 200);
  std::vector<Picture> deviations;
  for (const int threads : {1, kThreads}) {
    Picture std = some_picture(8, 200);
    for (Matrix& channel : std.channels) channel /= 100;
    scale_to_residual(noisy, {20, 0, false, {}}, denoised, std, threads);
    combine_deviations(20, disagreement, std, threads);
    deviations.push_back(std);
  }
  expect_equal(deviations[0], deviations[1]);
}

TEST(LargePicture, ThreadsDoNotChangeTheNoiseLevel) {
  const Picture picture = some_picture(9);
  const CosineBlocks one = cosine_blocks(picture, 1), several = cosine_blocks(picture, kThreads);
  EXPECT_EQ(one.means, several.means);
  EXPECT_EQ(one.coarse, several.coarse);
  EXPECT_EQ(one.fine, several.fine);
  EXPECT_EQ(one.rings, several.rings);
  EXPECT_EQ(measure_noise(picture, 1).std, measure_noise(picture, kThreads).std);
  Picture clipped = some_picture(9, 40);  // a fortieth of it black
  for (Matrix& channel : clipped.channels) channel = channel.cwiseMax(0.0);
  const NoiseLevel level = measure_noise(clipped, 1);
  EXPECT_EQ(level.std, measure_noise(clipped, kThreads).std);
  EXPECT_NEAR(level.std, 20, 1);
}

/// Of blocks of a thousand patches, which are added up in their order.
TEST(LargePicture, ThreadsDoNotChangeSummaries) {
  const Picture picture = some_picture(13);
  const PatchData data(picture, grid_positions(kHeight, kWidth, 6, 2), true);
  DataSums one(first_row(data, false), false, false), several = one;
  one.add_rows(data, 0, 1);
  several.add_rows(data, 0, kThreads);
  EXPECT_EQ(one.count, several.count);
  EXPECT_EQ(one.magnitude, several.magnitude);
  EXPECT_EQ(one.sum, several.sum);
  EXPECT_EQ(one.squares, several.squares);
  EXPECT_EQ(several.summary(data).covariance, summarize(data).covariance);
}

TEST(LargePicture, TheFirstPixelThatIsTooLargeIsNamedWhateverTheThreads) {
  Picture picture = some_picture(14);
  picture.channels[1](3, 4) = picture.channels[0](200, 7) = picture.channels[0](100, 9) = 1e30;
  picture.channels[0](100, 8) = std::numeric_limits<double>::quiet_NaN();
  for (const int threads : {1, kThreads}) {
    DenoiseOptions options;
    options.learning.inference.threads = threads;
    expect_error<Error>([&] { denoise(picture, options); }, {"row 100, column 8", "nan"});
  }
}

/// Products are made in pieces where a row is long.
TEST(LargePicture, BlocksOfLongRowsAreThoseOfShortOnes) {
  Picture wide;
  wide.channels.assign(1, Matrix::Constant(16, 2000, 50));
  wide = add_noise(wide, 10, false, 10);
  Picture end;
  end.channels.push_back(wide.channels[0].rightCols(100));
  const CosineBlocks all = cosine_blocks(wide), part = cosine_blocks(end);
  ASSERT_EQ(all.stride, 1);
  const Index shift = 1900, columns = 2000 - all.size + 1;
  for (Index k = 0; k < 100 - part.size + 1; ++k) {
    EXPECT_NEAR(all.coarse[columns + shift + k] / part.coarse[100 - part.size + 1 + k], 1, 1e-9) << k;
    EXPECT_NEAR(all.fine(shift + k, 3), part.fine(k, 3), 1e-9) << k;
  }
}

TEST(LargePicture, ThreadsDoNotChangeTheMeanOfPatches) {
  const Picture picture = some_picture(11);
  const PatchPositions grid = grid_positions(kHeight, kWidth, 8, 5);
  const PatchData data(picture, grid, false);
  Matrix patches(data.rows(), data.cols());
  data.read(0, patches);
  std::vector<Picture> means, deviations;
  for (const int threads : {1, kThreads}) {
    PatchAverager averager(grid, 3, true, threads);
    averager.add_block(0, patches, Vector::Constant(data.rows(), 0.7), patches.cwiseAbs(), threads);
    means.push_back(averager.result(PixelDepth::real32, threads));
    deviations.push_back(averager.std_result(threads));
  }
  expect_equal(means[0], means[1]);
  expect_equal(deviations[0], deviations[1]);
}

}  // namespace
}  // namespace gsc::test
