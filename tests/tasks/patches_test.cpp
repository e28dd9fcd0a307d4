// Taking patches out of a picture and averaging them back are inverse to each other.

#include "tasks/picture/patches.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "expect_error.h"

namespace gsc::test {
namespace {

Picture random_picture(Index height, Index width, std::size_t channels, Random& random) {
  std::uniform_real_distribution<double> shade(0, 255);
  Picture picture;
  for (std::size_t k = 0; k < channels; ++k)
    picture.channels.push_back(Matrix::NullaryExpr(height, width, [&] { return shade(random); }));
  return picture;
}

Matrix read_all(const PatchData& data) {
  Matrix all(data.rows(), data.cols());
  data.read(0, all);
  return all;
}

struct Case {
  Index height, width, patch, stride;
};
const Case kCases[] = {{9, 13, 4, 1}, {9, 13, 4, 3}, {9, 13, 4, 4}, {16, 16, 8, 5}, {7, 7, 7, 1},
                       {7, 7, 7, 7},  {7, 30, 7, 2}, {30, 7, 3, 2}, {1, 1, 1, 1},   {5, 6, 1, 1}};

TEST(PatchPositions, GridCoversEveryPixelOnceAtLeast) {
  for (const Case& c : kCases) {
    const PatchPositions grid = grid_positions(c.height, c.width, c.patch, c.stride);
    EXPECT_EQ(grid.height(), c.height);
    EXPECT_EQ(grid.width(), c.width);
    Matrix covered = Matrix::Zero(c.height, c.width);
    std::set<std::pair<Index, Index>> seen;
    for (Index i = 0; i < grid.size(); ++i) {
      const auto [row, col] = grid[i];
      ASSERT_TRUE(row >= 0 && col >= 0 && row + c.patch <= c.height && col + c.patch <= c.width);
      EXPECT_TRUE(seen.emplace(row, col).second) << "twice: " << row << ", " << col;
      covered.block(row, col, c.patch, c.patch).array() += 1;
    }
    EXPECT_GE(covered.minCoeff(), 1) << c.height << " x " << c.width << ", " << c.patch << ", " << c.stride;
    if (c.stride == 1) {
      EXPECT_EQ(grid.size(), (c.height - c.patch + 1) * (c.width - c.patch + 1));
    }
  }
  EXPECT_EQ(grid_positions(256, 256, 8, 1).size(), 62001);
  EXPECT_EQ(grid_positions(4000, 6000, 8, 1)[3993 * 5993 - 1].col, 5992);
}

TEST(PatchPositions, Errors) {
  expect_error<Error>([] { grid_positions(7, 100, 8, 1); },
                      {"100 x 7 pixels", "patch of 8 x 8", "use smaller patches"});
  expect_error<Error>([] { grid_positions(100, 7, 8, 1); },
                      {"7 x 100 pixels", "patch of 8 x 8", "use smaller patches"});
  expect_error<Error>([] { grid_positions(0, 0, 1, 1); }, {"0 x 0 pixels", "patch of 1 x 1"});
  expect_error<UsageError>([] { grid_positions(9, 9, 8, 0); }, {"stride: 0 pixels", "from 1 to the patch's 8"});
  expect_error<UsageError>([] { grid_positions(9, 9, 4, 5); }, {"stride: 5 pixels", "from 1 to the patch's 4"});
  expect_error<UsageError>([] { grid_positions(9, 9, 0, 1); }, {"patch: 0 pixels", "at least 1"});
}

TEST(PatchPositions, RandomOnesAreDifferentAndUniform) {
  Random random(3);
  for (const Index count : {Index{0}, Index{1}, Index{20}, Index{59}, Index{60}, Index{1000}}) {
    const PatchPositions some = random_positions(9, 13, 4, count, random);  // of 6 x 10
    EXPECT_EQ(some.size(), std::min<Index>(count, 60));
    std::set<std::pair<Index, Index>> seen;
    for (Index i = 0; i < some.size(); ++i) {
      ASSERT_TRUE(some[i].row >= 0 && some[i].row < 6 && some[i].col >= 0 && some[i].col < 10);
      seen.emplace(some[i].row, some[i].col);
    }
    EXPECT_EQ(static_cast<Index>(seen.size()), some.size());
  }

  // Each of 12 positions is drawn, and drawn at each of the 3 places, equally often: 6000 draws, 500 +- 21 expected.
  Matrix times = Matrix::Zero(3, 12);
  for (int draw = 0; draw < 6000; ++draw) {
    const PatchPositions three = random_positions(4, 5, 2, 3, random);
    for (Index i = 0; i < 3; ++i) times(i, three[i].row * 4 + three[i].col) += 1;
  }
  EXPECT_GT(times.minCoeff(), 500 - 5 * 21);
  EXPECT_LT(times.maxCoeff(), 500 + 5 * 21);
}

TEST(PatchPositions, RandomOnesFollowTheSeed) {
  Random a(7), b(7), c(8);
  const PatchPositions x = random_positions(50, 60, 8, 100, a), y = random_positions(50, 60, 8, 100, b),
                       z = random_positions(50, 60, 8, 100, c);
  bool differs = false;
  for (Index i = 0; i < 100; ++i) {
    EXPECT_TRUE(x[i].row == y[i].row && x[i].col == y[i].col);
    differs = differs || x[i].row != z[i].row || x[i].col != z[i].col;
  }
  EXPECT_TRUE(differs);
}

TEST(PatchData, PixelByPixelWithItsChannelsTogether) {
  Picture picture;
  picture.channels = {Matrix{{1, 2, 3}, {4, 5, 6}}, Matrix{{10, 20, 30}, {40, 50, 60}},
                      Matrix{{100, 200, 300}, {400, 500, 600}}};
  const PatchData data(picture, grid_positions(2, 3, 2, 1), false);
  const Matrix expected{{1, 10, 100, 2, 20, 200, 4, 40, 400, 5, 50, 500},
                        {2, 20, 200, 3, 30, 300, 5, 50, 500, 6, 60, 600}};
  EXPECT_EQ(read_all(data), expected);

  const PatchData centred(picture, grid_positions(2, 3, 2, 1), true);
  Matrix block(1, 12), means;
  centred.read(1, block, means);
  EXPECT_EQ(means, (Matrix{{4, 40, 400}}));
  EXPECT_EQ(block, (Matrix{{-2, -20, -200, -1, -10, -100, 1, 10, 100, 2, 20, 200}}));
  EXPECT_EQ(read_all(centred).row(1), block);
  add_means(block, means);
  EXPECT_EQ(block, expected.row(1));
  data.read(1, block, means);
  EXPECT_EQ(means, Matrix::Zero(1, 3));
}

TEST(PatchData, FillsBlocksOfLargerMatrices) {
  Random random(1);
  const Picture picture = random_picture(8, 9, 2, random);  // two channels: neither of the special loops
  const PatchData data(picture, grid_positions(8, 9, 3, 2), true, "p.png");
  EXPECT_EQ(data.name(), "p.png");
  const Matrix all = read_all(data);
  Matrix large = Matrix::Zero(7, data.cols() + 5);
  data.read(4, large.block(1, 2, 5, data.cols()));
  EXPECT_EQ(large.block(1, 2, 5, data.cols()), all.middleRows(4, 5));
  large.block(1, 2, 5, data.cols()).setZero();
  EXPECT_TRUE(large.isZero(0));
}

TEST(PatchData, SeveralThreadsReadTheSame) {
  Random random(1);
  const Picture picture = random_picture(60, 70, 3, random);
  const PatchData data(picture, random_positions(60, 70, 8, 1500, random), true);
  const Matrix expected = read_all(data);
  Matrix got(data.rows(), data.cols());
  std::vector<std::thread> threads;
  for (Index t = 0; t < 3; ++t)
    threads.emplace_back([&, t] {
      for (Index first = 100 * t; first < 1500; first += 300) data.read(first, got.middleRows(first, 100));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(got, expected);
}

/// Bit by bit, wherever a block begins and ends.
TEST(PatchData, MeansAloneAreThoseOfReading) {
  Random random(3);
  const Picture wide = random_picture(9, 90, 3, random), small = random_picture(12, 11, 2, random);
  const auto expect_same = [](const PatchData& data) {
    Matrix block(data.rows(), data.cols()), expected;
    data.read(0, block, expected);
    for (const Index step : {Index{5}, Index{64}, data.rows()})
      for (Index first = 0; first < data.rows(); first += step) {
        Matrix means(std::min(step, data.rows() - first), data.channels());
        means.setConstant(-1);
        data.read_means(first, means.rows(), means.data());
        EXPECT_EQ(means, expected.middleRows(first, means.rows())) << first;
      }
  };
  for (const bool remove_mean : {true, false}) {
    expect_same({wide, grid_positions(9, 90, 4, 1), remove_mean});
    expect_same({small, grid_positions(12, 11, 4, 1), remove_mean});
    expect_same({small, grid_positions(12, 11, 4, 3), remove_mean});
    expect_same({small, random_positions(12, 11, 4, 20, random), remove_mean});
  }
}

TEST(PatchAverager, GivesThePictureBackWhateverTheWeights) {
  Random random(2);
  std::uniform_real_distribution<double> exponent(-3, 3);
  for (const Case& c : kCases)
    for (const std::size_t channels : {std::size_t{1}, std::size_t{2}, std::size_t{3}})
      for (const bool remove_mean : {false, true}) {
        const Picture picture = random_picture(c.height, c.width, channels, random);
        const PatchData data(picture, grid_positions(c.height, c.width, c.patch, c.stride), remove_mean);
        PatchAverager averager(data.positions(), data.channels(), false);
        Matrix means;
        for (Index first = 0; first < data.rows(); first += 7) {
          Matrix block(std::min<Index>(7, data.rows() - first), data.cols());
          data.read(first, block, means);
          if (remove_mean) {
            EXPECT_NEAR(block.row(0).sum(), 0, 1e-10 * static_cast<double>(data.cols()));
          }
          add_means(block, means);
          const Vector weights = Vector::NullaryExpr(block.rows(), [&] { return std::pow(10.0, exponent(random)); });
          averager.add_block(first, block, weights);
        }
        const Picture back = averager.result(PixelDepth::bits16);
        EXPECT_EQ(back.depth, PixelDepth::bits16);
        ASSERT_EQ(back.channels.size(), channels);
        for (std::size_t k = 0; k < channels; ++k)
          EXPECT_LT((back.channels[k] - picture.channels[k]).cwiseAbs().maxCoeff(), 1e-11)
              << c.height << " x " << c.width << ", " << c.patch << ", " << c.stride << ", channel " << k;
      }
}

TEST(PatchAverager, WeighsValuesAndVariances) {
  // Two patches of 2 x 2 pixels in a picture of 2 x 3 share the middle column.
  PatchAverager averager(grid_positions(2, 3, 2, 1), 1, true);
  averager.add_block(0, Matrix{{1, 2, 3, 4}, {10, 20, 30, 40}}, Vector{{1.0, 3.0}},
                     Matrix{{4, 16, 4, 4}, {64, 9, 9, 9}});
  const Picture mean = averager.result(PixelDepth::bits8), std = averager.std_result();
  EXPECT_EQ(mean.channels[0], (Matrix{{1, (2 + 3 * 10) / 4.0, 20}, {3, (4 + 3 * 30) / 4.0, 40}}));
  EXPECT_EQ(std.depth, PixelDepth::real32);
  EXPECT_LT((std.channels[0] - Matrix{{2, std::sqrt((16 + 3 * 64) / 4.0), 3}, {2, std::sqrt((4 + 3 * 9) / 4.0), 3}})
                .cwiseAbs()
                .maxCoeff(),
            1e-14);
}

TEST(PatchAverager, OneByOneIsTheSameAsInBlocks) {
  Random random(4);
  const Picture picture = random_picture(12, 11, 3, random);
  const PatchData data(picture, grid_positions(12, 11, 4, 2), false);
  const Matrix patches = read_all(data), variances = patches / 2;
  const Vector weights = Vector::LinSpaced(data.rows(), 1, 2);
  PatchAverager blocks(data.positions(), 3, true), single(data.positions(), 3, true);
  blocks.add_block(0, patches, weights, variances);
  for (Index i = 0; i < data.rows(); ++i) single.add(i, patches.row(i).data(), weights(i), variances.row(i).data());
  for (const int threads : {2, 5, 40}) {  // more than there are columns, too
    PatchAverager several(data.positions(), 3, true);
    several.add_block(0, patches, weights, variances, threads);
    for (std::size_t k = 0; k < 3; ++k) {
      EXPECT_EQ(several.result(PixelDepth::bits8).channels[k], blocks.result(PixelDepth::bits8).channels[k]) << threads;
      EXPECT_EQ(several.std_result().channels[k], blocks.std_result().channels[k]) << threads;
    }
  }
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_EQ(blocks.result(PixelDepth::bits8).channels[k], single.result(PixelDepth::bits8).channels[k]);
    EXPECT_EQ(blocks.std_result().channels[k], single.std_result().channels[k]);
    EXPECT_LT((single.std_result().channels[k] - (picture.channels[k] / 2).cwiseSqrt()).cwiseAbs().maxCoeff(), 1e-12);
  }
}

}  // namespace
}  // namespace gsc::test
