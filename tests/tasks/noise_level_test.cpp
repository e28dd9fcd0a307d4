// Noise of known strength, added to drawings, is found; what cannot be known is called uncertain.

#include <gsc/denoise.h>
#include <gsc/picture_files.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "effort.h"

namespace gsc::test {
namespace {

Picture drawn(Index height, Index width, const std::function<double(double y, double x)>& value, int channels = 1) {
  Picture picture;
  Matrix pixels(height, width);
  for (Index y = 0; y < height; ++y)
    for (Index x = 0; x < width; ++x) pixels(y, x) = value(static_cast<double>(y), static_cast<double>(x));
  picture.channels.assign(static_cast<std::size_t>(channels), pixels);
  return picture;
}

/// Sky, hills with an outline, and a field of stripes in a fifth of it.
double landscape(double y, double x) {
  const double outline = 90 + 30 * std::sin(x / 40);
  if (y < outline) return 170 - 0.4 * y;
  if (y > 200) return std::sin(1.3 * x + 0.9 * y) > 0 ? 150 : 70;
  return 60 + 0.2 * x;
}

TEST(NoiseLevel, DrawingsWithNoise) {
  const Picture clean = drawn(256, 256, landscape);
  for (const double sigma : {1.0, 5.0, 15.0, 25.0, 50.0})
    for (const std::uint64_t seed : {1, 2, 3}) {
      const NoiseLevel level = measure_noise(add_noise(clean, sigma, false, seed));
      EXPECT_NEAR(level.std / sigma, 1, 0.03) << sigma << ", seed " << seed;
      EXPECT_LT(level.error, 0.03) << sigma;
      EXPECT_FALSE(level.uncertain) << sigma << ": " << level.why;
      EXPECT_EQ(level.why, "");
    }
}

TEST(NoiseLevel, ErrorsAreOfTheSizeThatIsTold) {
  const Picture flat = drawn(96, 96, [](double, double) { return 100; });
  double sum = 0, squares = 0, told = 0;
  constexpr int kSeeds = 40;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const NoiseLevel level = measure_noise(add_noise(flat, 20, false, static_cast<std::uint64_t>(seed)));
    sum += level.std / 20 - 1;
    squares += std::pow(level.std / 20 - 1, 2);
    told += level.error;
  }
  const double rms = std::sqrt(squares / kSeeds);
  std::cout << "mean error " << sum / kSeeds << ", root mean square " << rms << ", told " << told / kSeeds << '\n';
  EXPECT_LT(std::abs(sum / kSeeds), 3 * rms / std::sqrt(kSeeds))
      << "blocks are chosen by what is not measured: no bias";
  EXPECT_NEAR(told / kSeeds / rms, 1, 0.5);
}

TEST(NoiseLevel, NothingIsFoundWhereNothingIs) {
  EXPECT_LT(measure_noise(drawn(64, 64, [](double, double) { return 65535; })).std, 1e-6) << "flat";
  const auto disc = [](double y, double x) { return std::hypot(y - 60, x - 70) < 40 ? 255.0 : 0.0; };
  EXPECT_LT(measure_noise(drawn(128, 160, disc)).std, 1e-6) << "two values";
  const auto boxes = [](double y, double x) { return 40 * std::floor(y / 20) + 10 * std::floor(x / 25); };
  EXPECT_LT(measure_noise(drawn(120, 150, boxes)).std, 1e-6) << "many values";
  EXPECT_LT(measure_noise(drawn(120, 150, [](double y, double x) { return 0.7 * y + 0.3 * x; })).std, 1e-6) << "plane";
}

TEST(NoiseLevel, ClippedNoise) {
  // Half of it nearly black, where half of the noise is cut off.
  const Picture clean = drawn(256, 256, [](double y, double x) { return x < 128 ? 2 : 60 + 0.5 * y; });
  for (const double sigma : {5.0, 15.0, 25.0, 50.0}) {
    const NoiseLevel level = measure_noise(add_noise(clean, sigma, true, 4));
    EXPECT_NEAR(level.std / sigma, 1, 0.03) << sigma;
    EXPECT_FALSE(level.uncertain) << sigma << ": " << level.why;
  }
  const Picture black = drawn(64, 64, [](double, double) { return 10; });
  const NoiseLevel level = measure_noise(add_noise(black, 20, true, 5));
  EXPECT_TRUE(level.uncertain);
  EXPECT_NE(level.why.find("clipped"), std::string::npos) << level.why;
}

TEST(NoiseLevel, SaturatedSkyIsNotTakenForAPictureWithoutNoise) {
  Picture noisy = add_noise(drawn(200, 200, [](double y, double) { return 60 + 0.4 * y; }), 10, true, 6);
  noisy.channels[0].topRows(80).setConstant(255);
  EXPECT_NEAR(measure_noise(noisy).std, 10, 0.3);
}

TEST(NoiseLevel, Colour) {
  const Picture clean = drawn(160, 160, landscape, 3);
  EXPECT_NEAR(measure_noise(add_noise(clean, 20, false, 7)).std, 20, 0.4);
  EXPECT_NEAR(measure_noise(add_noise(clean, 20, true, 7)).std, 20, 0.4);
}

TEST(NoiseLevel, AnyUnit) {
  const Picture noisy = add_noise(drawn(128, 128, landscape), 12, true, 8);
  const NoiseLevel level = measure_noise(noisy);
  for (const double factor : {257.0, 1e-6, 3e12}) {
    Picture scaled = noisy;
    scaled.depth = factor == 257 ? PixelDepth::bits16 : PixelDepth::real32;
    scaled.channels[0] *= factor;
    const NoiseLevel again = measure_noise(scaled);
    EXPECT_NEAR(again.std / (factor * level.std), 1, 1e-6) << factor;
    EXPECT_NEAR(again.error, level.error, 1e-6) << factor;
    EXPECT_EQ(again.uncertain, level.uncertain) << factor;
  }
  Picture shifted = noisy;
  shifted.depth = PixelDepth::real32;
  shifted.channels[0].array() -= 1000;
  EXPECT_NEAR(measure_noise(shifted).std / level.std, 1, 1e-6);
}

TEST(NoiseLevel, TextureEverywhereIsUncertain) {
  Random random(9);
  std::uniform_real_distribution<double> shade(0, 255);
  Picture texture = drawn(128, 128, [&](double, double) { return shade(random); });
  Matrix& pixels = texture.channels[0];
  for (int pass = 0; pass < 2; ++pass)  // blurred: not white
    for (Index y = 0; y + 1 < 128; ++y)
      for (Index x = 0; x + 1 < 128; ++x)
        pixels(y, x) = (pixels(y, x) + pixels(y + 1, x) + pixels(y, x + 1) + pixels(y + 1, x + 1)) / 4;
  const NoiseLevel level = measure_noise(add_noise(texture, 2, false, 10));
  EXPECT_TRUE(level.uncertain);
  EXPECT_NE(level.why.find("texture"), std::string::npos) << level.why;
  EXPECT_GE(level.error, 0.05);
}

TEST(NoiseLevel, TinyPictures) {
  for (const Index size : {4, 5, 7, 8, 13, 16}) {
    std::vector<double> found;
    for (std::uint64_t seed = 1; seed <= 31; ++seed) {
      const Picture flat = drawn(size, size + 1, [](double, double) { return 100; });
      const NoiseLevel level = measure_noise(add_noise(flat, 10, false, seed));
      EXPECT_TRUE(std::isfinite(level.std));
      EXPECT_TRUE(level.uncertain) << size;
      EXPECT_NE(level.why.find("too small"), std::string::npos) << level.why;
      found.push_back(level.std);
    }
    std::nth_element(found.begin(), found.begin() + 15, found.end());
    EXPECT_NEAR(found[15], 10, 3.5) << size;
  }
  for (const Index size : {0, 1, 3}) {
    const NoiseLevel level = measure_noise(drawn(size, 40, [](double, double x) { return x * x; }));
    EXPECT_EQ(level.std, 0);
    EXPECT_TRUE(level.uncertain);
    EXPECT_NE(level.why.find("fewer than 4 pixels"), std::string::npos) << level.why;
  }
  EXPECT_TRUE(measure_noise(Picture{}).uncertain);
}

/// Spectra that rise, as of noise that was sharpened, are no texture; the least that is white in them is told.
TEST(NoiseLevel, SharpenedPictures) {
  const Picture noisy = add_noise(drawn(160, 200, [](double, double) { return 100; }), 10, false, 3);
  Picture sharp = noisy;
  for (Index y = 1; y < 159; ++y)
    for (Index x = 1; x < 199; ++x) {
      const Matrix& pixels = noisy.channels[0];
      const double around = pixels(y - 1, x) + pixels(y + 1, x) + pixels(y, x - 1) + pixels(y, x + 1);
      sharp.channels[0](y, x) += 0.5 * (pixels(y, x) - around / 4);
    }
  const NoiseLevel level = measure_noise(sharp);
  EXPECT_TRUE(std::isfinite(level.std) && std::isfinite(level.error));
  EXPECT_GT(level.std, 5);
  EXPECT_LT(level.std, 20);
}

TEST(NoiseLevel, ADrawingOfTwoValuesHasNone) {
  Picture picture;
  picture.channels.push_back(
      Matrix::NullaryExpr(64, 64, [](Index y, Index x) { return y / 16 % 2 == x / 16 % 2 ? 255.0 : 0.0; }));
  EXPECT_EQ(measure_noise(picture).std, 0) << "what arithmetic leaves is no noise";
  picture.channels[0].array() += 1e-5 * Matrix::Random(64, 64).array();
  EXPECT_GT(measure_noise(picture).std, 1e-6) << "but little noise is";
}

TEST(NoiseLevel, PixelsThatAreNotFiniteAreLeftOut) {
  Picture noisy = add_noise(drawn(128, 128, landscape), 10, false, 12);
  noisy.depth = PixelDepth::real32;
  noisy.channels[0](40, 30) = std::numeric_limits<double>::quiet_NaN();
  noisy.channels[0](50, 90) = std::numeric_limits<double>::infinity();
  EXPECT_NEAR(measure_noise(noisy).std, 10, 0.5);
  noisy.channels[0].setConstant(std::numeric_limits<double>::quiet_NaN());
  EXPECT_EQ(measure_noise(noisy).std, 0);
  EXPECT_TRUE(measure_noise(noisy).uncertain);
}

TEST(NoiseLevel, OfLargePicturesAPartIsEnough) {
  const Picture clean = drawn(1600, 1700, [](double y, double x) { return 80 + 20 * std::sin(y / 30) + 0.02 * x; });
  EXPECT_NEAR(measure_noise(add_noise(clean, 10, false, 11)).std, 10, 0.1);
}

/// One pixel that differs: the rest is smooth, but there is no noise by which to tell.
TEST(NoiseLevel, SaysNoNonsenseOfANearlyFlatPicture) {
  const Picture dot = drawn(64, 64, [](double y, double x) { return y == 20 && x == 30 ? 101.0 : 100.0; });
  const NoiseLevel level = measure_noise(dot);
  EXPECT_TRUE(level.uncertain);
  EXPECT_EQ(level.why.find("%"), std::string::npos) << level.why;
  EXPECT_NE(level.why.find("hardly any"), std::string::npos) << level.why;
}

/// A field of leaves: as strong everywhere, but at high frequencies less than at low ones. No block of it is smooth.
TEST(NoiseLevel, TextureAllOverIsSeenThrough) {
  Random random(13);
  std::normal_distribution<double> shade(0, 1);
  Picture texture = drawn(300, 300, [&](double, double) { return 600 * shade(random); });
  Matrix& pixels = texture.channels[0];
  for (int pass = 0; pass < 3; ++pass) {
    const Matrix before = pixels;
    for (Index y = 1; y < 299; ++y)
      for (Index x = 1; x < 299; ++x) pixels(y, x) = before.block(y - 1, x - 1, 3, 3).mean();
  }
  texture.channels[0].array() += 128;
  for (const double sigma : {10.0, 25.0, 50.0}) {
    const NoiseLevel level = measure_noise(add_noise(texture, sigma, false, 14));
    EXPECT_NEAR(level.std / sigma, 1, 0.05) << sigma;
  }
}

/// The table of bench/noise_table.cpp. One of these pictures, test031, is texture all over; the grain of some others is
/// a part of what is found at the lowest level.
TEST(NoiseLevel, PicturesOfTheBenchmarks) {
  const char* const data = std::getenv("GSC_DATA");
  if (data == nullptr) GTEST_SKIP() << "GSC_DATA is not set";
  if (kSanitized) GTEST_SKIP() << "judges figures: in the plain build";
  const std::filesystem::path folder = std::filesystem::path(data) / "images";
  for (const std::string name :
       {"bsd/test003", "bsd/test012", "bsd/test019", "bsd/test023", "bsd/test031", "bsd/test044", "bsd/test051",
        "bsd/test066", "house256", "monarch256", "couple512", "castle_original"}) {
    const Picture clean = read_picture(folder / (name + ".png"));
    for (const double sigma : {5.0, 10.0, 15.0, 25.0, 50.0})
      for (const bool clip : {false, true}) {
        const NoiseLevel level = measure_noise(add_noise(clean, sigma, clip, 1));
        const double error = level.std / sigma - 1, bound = sigma < 15 ? 0.03 : 0.02;
        const double textured = sigma < 15 ? 0.08 : 0.04;
        const std::string what = name + " at " + std::to_string(sigma) + (clip ? ", clipped" : "");
        EXPECT_NEAR(error, 0, level.uncertain || name == "bsd/test031" ? textured : bound) << what << ": " << level.why;
        EXPECT_FALSE(level.uncertain && sigma >= 25 && name != "bsd/test031") << what << ": " << level.why;
      }
  }
}

}  // namespace
}  // namespace gsc::test
