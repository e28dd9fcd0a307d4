// Denoising end to end, on pictures drawn here. Floors are what the method reaches with room for other processors; a
// wrong M-step or selection misses them by far.

#include <gsc/denoise.h>
#include <gsc/metrics.h>
#include <gtest/gtest.h>

#include <cmath>
#include <iostream>

#include "expect_error.h"
#include "tasks/denoise/deviation.h"
#include "tasks/denoise/plan.h"
#include "tasks/denoise/reconstruct.h"
#include "tasks/picture/scales.h"
#include "tasks/picture/smoothing.h"
#include "watching.h"

namespace gsc::test {
namespace {

/// Stripes, a box and a gradient.
Picture drawing(Index size, int channels = 1) {
  Picture picture;
  for (int c = 0; c < channels; ++c) {
    Matrix pixels(size, size);
    for (Index y = 0; y < size; ++y)
      for (Index x = 0; x < size; ++x) {
        double value = 60 + 80.0 * static_cast<double>(y) / static_cast<double>(size);
        if (x > size / 2) value = (x + y) % 8 < 4 ? 200 - 20 * c : 70 + 20 * c;
        if (x > size / 8 && x < size / 3 && y > size / 4 && y < size / 2) value = 220;
        pixels(y, x) = value;
      }
    picture.channels.push_back(pixels);
  }
  return picture;
}

DenoiseOptions small_options() {
  DenoiseOptions options;
  options.quality = Quality::fast;
  options.learning.latents = 48;
  options.learning.iterations = 6;
  options.learning.batch = 512;
  options.learning.inference.threads = 1;
  return options;
}

double gain(const Picture& clean, const Picture& noisy, const Denoised& denoised) {
  return psnr(clean, denoised.picture, 255) - psnr(clean, noisy, 255);
}

TEST(Denoise, RemovesNoiseOfUnknownStrength) {
  const Picture clean = drawing(80);
  for (const double sigma : {10.0, 25.0, 50.0}) {
    const Picture noisy = add_noise(clean, sigma, false, 1);
    const Denoised denoised = denoise(noisy, small_options());
    std::cout << "sigma " << sigma << ": gain " << gain(clean, noisy, denoised) << " dB, noise measured "
              << denoised.noise.std << '\n';
    EXPECT_GT(gain(clean, noisy, denoised), 9);
    EXPECT_NEAR(denoised.noise.std / sigma, 1, 0.1);
    EXPECT_NEAR(denoised.learned[0].fit.last().noise_std, denoised.noise.std, 1e-9 * sigma);
  }
}

TEST(Denoise, NoiseCanBeLearnedInstead) {
  const Picture clean = drawing(80), noisy = add_noise(clean, 25, false, 1);
  DenoiseOptions options = small_options();
  options.noise = NoiseSource::learned;
  options.learning.batch = 0;
  options.learning.iterations = 15;
  const Denoised denoised = denoise(noisy, options);
  EXPECT_NE(denoised.learned[0].fit.last().noise_std, denoised.noise.std);
  EXPECT_NEAR(denoised.learned[0].fit.last().noise_std, 25, 0.15 * 25);
  EXPECT_GT(gain(clean, noisy, denoised), 8);
}

/// Soft texture of a few directions, and an edge: what photographs have and drawings have not.
Picture texture(Index size) {
  Matrix pixels(size, size);
  for (Index y = 0; y < size; ++y)
    for (Index x = 0; x < size; ++x) {
      const auto u = static_cast<double>(x), v = static_cast<double>(y);
      const double waves = std::sin(0.9 * u + 0.2 * v + std::sin(v / 11)) + std::sin(0.3 * u - 0.7 * v);
      pixels(y, x) = 110 + 22 * waves * (1 + std::sin(u / 17)) + (u + v > static_cast<double>(size) ? 50 : 0);
    }
  Picture picture;
  picture.channels.push_back(pixels);
  return picture;
}

/// Decibels with so many rounds of either kind.
double psnr_with(const Picture& clean, const Picture& noisy, int nonlocal, int groups) {
  DenoiseOptions options = small_options();
  options.nonlocal = nonlocal;
  options.groups = groups;
  return psnr(clean, denoise(noisy, options).picture, 255);
}

TEST(Denoise, PriorsOfTheirOwnEarnTheirPlace) {
  const Picture clean = texture(96), noisy = add_noise(clean, 25, false, 11);
  const double model = psnr_with(clean, noisy, 0, 0), nonlocal = psnr_with(clean, noisy, 2, 0);
  std::cout << "model " << model << " dB, with priors of their own " << nonlocal << '\n';
  EXPECT_GT(model, psnr(clean, noisy, 255) + 5);
  EXPECT_GT(nonlocal, model + 0.05);
}

TEST(Denoise, GroupsEarnTheirPlace) {
  const Picture clean = drawing(96), noisy = add_noise(clean, 25, false, 11);
  const double model = psnr_with(clean, noisy, 0, 0), groups = psnr_with(clean, noisy, 0, 3);
  std::cout << "model " << model << " dB, with groups " << groups << '\n';
  EXPECT_GT(groups, model + 0.2);
}

TEST(Denoise, BandsOfALargePictureLeaveNoSeams) {
  const Picture noisy = add_noise(texture(56), 25, false, 12);
  DenoiseOptions options = small_options();
  options.nonlocal = 2;
  const ModelPlan plan = plan_denoising(noisy, options, measure_noise(noisy)).models.front();
  const Denoised denoised = denoise(noisy, options);
  const Model& model = denoised.learned[0].fit.model();
  const Reconstruction whole = reconstruct(noisy, model, plan);
  double done = 0;
  const auto grows = [&](double now) {
    EXPECT_GE(now, done);
    done = now;
    return false;
  };
  const Reconstruction bands = reconstruct_in_bands(noisy, model, plan, grows, 1);  // a row of patches at a time
  EXPECT_EQ(done, 1);
  EXPECT_EQ(whole.picture.channels[0], bands.picture.channels[0]);
  EXPECT_EQ(whole.std.channels[0], bands.std.channels[0]);
}

TEST(Denoise, CountsPatchesWithSingularStates) {
  const Picture noisy = add_noise(texture(40), 25, false, 12);
  DenoiseOptions options = small_options();
  options.nonlocal = 1;
  const ModelPlan plan = plan_denoising(noisy, options, measure_noise(noisy)).models.front();
  Model model = denoise(noisy, options).learned[0].fit.model();
  EXPECT_EQ(reconstruct(noisy, model, plan).clamped_pivots, 0);
  for (Index h = 1; h < model.latents(); ++h) model.W.col(h) = model.W.col(0);
  model.slab = Slab::diagonal(Vector::Constant(model.latents(), 1e30));
  const std::int64_t clamped = reconstruct(noisy, model, plan).clamped_pivots;
  EXPECT_GT(clamped, 0);
  EXPECT_EQ(reconstruct_in_bands(noisy, model, plan, {}, 1).clamped_pivots, clamped);
}

// Sizes that would be smaller than the smallest are not lost; the largest is left out where noise is faint.
TEST(Denoise, BestHasGroupsOfManySizesAtAnyNoise) {
  DenoiseOptions options;
  options.quality = Quality::best;
  for (const double sigma : {5, 15, 25, 50}) {
    const Picture noisy = add_noise(texture(128), sigma, false, 13);
    NoiseLevel noise;
    noise.std = sigma;
    const std::vector<GroupSize> sizes = plan_denoising(noisy, options, noise).groups.sizes;
    ASSERT_EQ(sizes.size(), sigma < 20 ? 6u : 7u) << sigma;
    EXPECT_EQ(sizes.back().patch, sigma < 20 ? 10 : sigma < 30 ? 14 : 16);
    for (std::size_t i = 1; i < sizes.size(); ++i) EXPECT_GT(sizes[i].patch, sizes[i - 1].patch) << sigma;
  }
}

TEST(Denoise, PlansAreToldInWords) {
  const Picture noisy = add_noise(texture(128), 25, false, 13);
  DenoiseOptions options;
  const DenoisePlan plan = plan_denoising(noisy, options, measure_noise(noisy));
  EXPECT_GT(plan.seconds(), 0);
  const std::string text = plan_text(plan);
  for (const char* part : {"2 models of patches 8 x 8 (512 latents, 4 passes), 10 x 10", "prior for every patch",
                           "5 rounds of groups of 3 x 3, 5 x 5, 7 x 7, 9 x 9, 11 x 11"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  options.nonlocal = 1;
  options.stride = 2;
  expect_error<UsageError>([&] { plan_denoising(noisy, options, measure_noise(noisy)); },
                           {"nonlocal is 1", "truncated method, stride 1"});
}

TEST(Denoise, BestHalvesThePictureWhereNoiseIsStrong) {
  DenoiseOptions best;
  best.quality = Quality::best;
  const auto plan_at = [&](double sigma, Index size) {
    const Picture noisy = add_noise(texture(size), sigma, false, 13);
    return plan_denoising(noisy, best, measure_noise(noisy));
  };
  const DenoisePlan plan = plan_at(25, 128);
  ASSERT_TRUE(plan.coarse);
  EXPECT_NEAR(plan.coarse->noise.std, plan.noise.std / 2, 1e-12);
  EXPECT_FALSE(plan.coarse->coarse) << "half of that noise is not strong";
  EXPECT_NE(plan_text(plan).find("half the size"), std::string::npos);
  EXPECT_FALSE(plan_at(10, 128).coarse);
  EXPECT_FALSE(plan_at(25, 100).coarse) << "too small";
}

/// The same picture in other units: real32 unless it is said.
Picture in_units(const Picture& picture, double scale, double offset, PixelDepth depth = PixelDepth::real32) {
  Picture result = picture;
  result.depth = depth;
  for (Matrix& channel : result.channels) {
    channel = (scale * channel).array() + offset;
    if (depth != PixelDepth::real32) channel = channel.array().round();
  }
  return result;
}

// Also those that use little of the range of their depth, and what is told in their units.
TEST(Denoise, TheUnitsOfThePixelsDoNotMatter) {
  const Picture clean = texture(64), noisy = add_noise(clean, 8, false, 17);
  for (const bool told : {false, true}) {
    DenoiseOptions options = small_options();
    options.quality = Quality::fast;
    if (told) options.learning.sigma = 8;
    const double usual = psnr(clean, denoise(noisy, options).picture, 255);
    EXPECT_GT(usual, psnr(clean, noisy, 255) + 3);
    struct Units {
      double scale, offset;
      PixelDepth depth;
    };
    for (const auto& [scale, offset, depth] : {Units{1e-5, 0, PixelDepth::real32},
                                               {1.0 / 255, -0.5, PixelDepth::real32},
                                               {1, 10000, PixelDepth::real32},
                                               {1e6, 0, PixelDepth::real32},
                                               {4, 100, PixelDepth::bits16},
                                               {256, 0, PixelDepth::bits16}}) {
      SCOPED_TRACE(::testing::Message() << scale << " y + " << offset << (told ? ", told" : ""));
      if (told) options.learning.sigma = 8 * scale;
      const Denoised denoised = denoise(in_units(noisy, scale, offset, depth), options);
      EXPECT_NEAR(psnr(in_units(clean, scale, offset), denoised.picture, 255 * scale), usual, 0.1);
      EXPECT_NEAR(denoised.noise.std, 8 * scale, scale);
    }
  }
}

TEST(Denoise, BestDoesWithoutHalfTheSizeWhereNothingWouldBeLeft) {
  Picture squares;
  squares.channels = {Matrix::NullaryExpr(128, 128, [](Index y, Index x) { return (x + y) % 2 == 0 ? 0.0 : 255.0; })};
  DenoiseOptions options;
  options.quality = Quality::best;
  const NoiseLevel noise{.std = 30, .told = true};
  EXPECT_FALSE(plan_denoising(squares, options, noise).coarse);
  const Picture noisy = add_noise(squares, 30, false, 1);
  EXPECT_TRUE(plan_denoising(noisy, options, noise).coarse);
  options.patch = 64;  // of which half the size has not even two
  EXPECT_FALSE(plan_denoising(noisy, options, noise).coarse);
}

TEST(Denoise, LowFrequenciesOfHalfTheSizeHelp) {
  Picture clean;
  clean.channels.emplace_back(128, 128);
  for (Index y = 0; y < 128; ++y)
    for (Index x = 0; x < 128; ++x)
      clean.channels[0](y, x) =
          128 + 40 * std::sin(static_cast<double>(x) / 9) + 30 * std::sin(static_cast<double>(x + 2 * y) / 25);
  const Picture noisy = add_noise(clean, 50, false, 16);
  DenoisePlan plan = plan_denoising(noisy, small_options(), measure_noise(noisy));
  const Picture alone = denoise_as_planned(noisy, plan).picture;
  NoiseLevel half = plan.noise;
  half.std /= 2;
  plan.coarse = std::make_shared<const DenoisePlan>(plan_denoising(halved(noisy), small_options(), half));
  plan.coarse_share = 0.5;
  bool told = false;
  Watching watch([&](const Progress& now) {
    told |= now.half_size;
    return true;
  });
  const Picture both = denoise_as_planned(noisy, plan, &watch).picture;
  EXPECT_TRUE(told);
  std::cout << psnr(clean, alone, 255) << " dB, with half the size " << psnr(clean, both, 255) << '\n';
  EXPECT_GT(psnr(clean, both, 255), psnr(clean, alone, 255) + 0.1);
}

TEST(Denoise, RoundsOfGroupsButTheFirstAreAveraged) {
  const Picture noisy = add_noise(texture(64), 25, false, 15);
  DenoisePlan plan = plan_denoising(noisy, small_options(), measure_noise(noisy));
  const auto after = [&](int rounds) {
    plan.group_rounds = rounds;
    return denoise_as_planned(noisy, plan).picture;
  };
  const auto next = [&](const Picture& pilot) { return filter_groups(noisy, pilot, plan.group_noise, plan.groups); };
  const Picture second = after(2), third = next(second), fourth = next(third);
  EXPECT_EQ(after(3).channels[0], third.channels[0]) << "three are too few";
  const Matrix mean = (second.channels[0] + third.channels[0] + fourth.channels[0]) / 3;
  EXPECT_LT((after(4).channels[0] - mean).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_GT((fourth.channels[0] - mean).cwiseAbs().maxCoeff(), 0.01);
}

TEST(Denoise, WhatThereIsSoFarCanBeTaken) {
  const Picture clean = texture(64), noisy = add_noise(clean, 25, false, 14);
  Watching watch([](const Progress& now) { return now.round < 2; });
  std::shared_ptr<const Picture> best;
  try {
    denoise(noisy, small_options(), &watch);
  } catch (const Interrupted& error) {
    EXPECT_STREQ(error.what(), "interrupted while denoising");
    best = error.picture;
  }
  ASSERT_TRUE(best);
  ASSERT_EQ(best->channels.size(), 1U);
  EXPECT_GT(psnr(clean, *best, 255), psnr(clean, noisy, 255) + 5);
}

TEST(Denoise, EveryWayOfThePaperWorks) {
  const Picture clean = drawing(64), noisy = add_noise(clean, 25, false, 2);
  DenoiseOptions options = small_options();
  options.learning.inference.selection = Selection::singleton;
  options.patch_mean = PatchMean::keep;
  options.weights = PatchWeights::equal;
  options.learning.inference.precision = Precision::double_precision;
  options.learning.init = Init::random;
  options.learning.iterations = 40;
  options.learning.batch = 0;
  options.noise = NoiseSource::learned;
  options.nonlocal = options.groups = 0;
  EXPECT_GT(gain(clean, noisy, denoise(noisy, options)), 5);
}

TEST(Denoise, ColourAlphaAndAveragedModels) {
  Picture clean = drawing(48, 3);
  clean.alpha = Matrix::Constant(48, 48, 200);
  const Picture noisy = add_noise(clean, 20, true, 3);
  DenoiseOptions options = small_options();
  options.models = 2;
  const Denoised denoised = denoise(noisy, options);
  EXPECT_EQ(denoised.learned.size(), 2u);
  EXPECT_NE(denoised.learned[0].patch, denoised.learned[1].patch);
  EXPECT_EQ(denoised.picture.alpha, clean.alpha);
  ASSERT_EQ(denoised.picture.channels.size(), 3u);
  EXPECT_GT(gain(clean, noisy, denoised), 4);
}

TEST(Denoise, UncertaintyIsOfTheRightSize) {
  for (const Picture& clean : {texture(96), drawing(96)}) {
    const Picture noisy = add_noise(clean, 25, false, 4);
    DenoiseOptions options = small_options();
    options.learning.latents = 128;
    const Denoised denoised = denoise(noisy, options);
    const Matrix error = (denoised.picture.channels[0] - clean.channels[0]).cwiseAbs();
    const Matrix& std = denoised.std.channels[0];
    EXPECT_GT(std.minCoeff(), 0);
    const double inside = (error.array() < 2 * std.array()).cast<double>().mean();
    const double rms = std::sqrt(error.squaredNorm() / static_cast<double>(error.size()));
    std::cout << "within two standard deviations: " << inside << ", mean std " << std.mean() << ", rms error " << rms
              << '\n';
    EXPECT_GT(inside, 0.9);
    EXPECT_GT(std.mean() / rms, 0.6);
    EXPECT_LT(std.mean() / rms, 2);
  }
}

TEST(Deviation, IsTheCubeRootOfWhatKnowsOfErrors) {
  Random random(21);
  std::uniform_real_distribution<double> shade(0.5, 9);
  const auto some = [&] {
    Picture picture;
    for (int c = 0; c < 3; ++c) picture.channels.push_back(Matrix::NullaryExpr(20, 25, [&] { return shade(random); }));
    return picture;
  };
  const Picture models = some(), disagreement = some(), sizes = smoothed(disagreement, 2);
  Picture std = models;
  combine_deviations(7, disagreement, std);
  for (std::size_t c = 0; c < 3; ++c)
    for (Index i = 0; i < 20 * 25; ++i) {
      const double m = models.channels[c].data()[i], v = std.channels[c].data()[i] * std.channels[c].data()[i];
      EXPECT_NEAR(v * v * v, std::pow(kDeviationScale, 3) * 49 * m * m * sizes.channels[c].data()[i], 1e-9 * v * v * v);
    }
  Picture nowhere = models;
  for (Matrix& channel : nowhere.channels) channel.setZero();
  std = models;
  combine_deviations(7, nowhere, std);
  EXPECT_GT(std.channels[0].minCoeff(), 0) << "sizes that agree are not proof";
}

TEST(Deviation, ModelsAreScaledToWhatTheResidualSays) {
  // y - x^ has variance 100 where the noise has 64: 36 were missed, and twice 25 of noise are in the result.
  Picture noisy, denoised, std;
  Random random(22);
  std::normal_distribution<double> normal(0, 10);
  noisy.channels.push_back(Matrix::NullaryExpr(200, 200, [&] { return normal(random); }));
  denoised.channels.push_back(Matrix::Zero(200, 200));
  std.channels.push_back(Matrix::Constant(200, 200, 5));
  scale_to_residual(noisy, {8, 0, false, {}}, denoised, std);
  EXPECT_NEAR(std.channels[0](0, 0), std::sqrt(100 - 64 + 2 * 25), 0.15);
  std.channels[0].setConstant(1);
  scale_to_residual(noisy, {8, 0, false, {}}, denoised, std);
  EXPECT_NEAR(std.channels[0](0, 0), 2, 1e-12) << "no more than doubled";
  std.channels[0].setConstant(50);
  scale_to_residual(noisy, {100, 0, false, {}}, denoised, std);
  EXPECT_EQ(std.channels[0](0, 0), 50) << "not scaled down";
}

TEST(Denoise, SameSeedSameBits) {
  const Picture noisy = add_noise(drawing(48), 25, false, 5);
  DenoiseOptions options = small_options();
  options.learning.iterations = 3;
  const Denoised a = denoise(noisy, options), b = denoise(noisy, options);
  EXPECT_EQ(a.picture.channels[0], b.picture.channels[0]);
  options.learning.seed = 2;
  EXPECT_NE(a.picture.channels[0], denoise(noisy, options).picture.channels[0]);
}

TEST(Denoise, LearnsOnAPartOfLargePictures) {
  const Picture clean = drawing(96), noisy = add_noise(clean, 25, false, 6);
  DenoiseOptions options = small_options();
  options.train_patches = 1500;
  EXPECT_GT(gain(clean, noisy, denoise(noisy, options)), 5);
}

TEST(Denoise, RefusesWhatCannotBeDenoised) {
  Picture flat;
  flat.channels.push_back(Matrix::Constant(32, 32, 7));
  expect_error<Error>([&] { denoise(flat, small_options()); }, {"flat (every pixel is 7", "is it the right one?"});
  Picture tiny;
  tiny.channels.push_back(Matrix::Random(3, 40));
  expect_error<Error>([&] { denoise(tiny, small_options()); }, {"40 x 3 pixels", "at least 4 in each direction"});
  DenoiseOptions options = small_options();
  const auto expect_refused = [&](Parts parts) {
    expect_error<UsageError>([&] { denoise(drawing(32), options); }, parts);
  };
  options.patch = 1;
  expect_refused({"patch is 1;", "between 2 and 64"});
  options.patch = 40;
  expect_refused({"patch is 40", "only 32 x 32 pixels", "choose smaller patches"});
  options.patch = 8;
  options.stride = 9;
  expect_refused({"stride is 9;", "at most the patch size"});
  options.patch.reset();
  options.stride = 13;  // more than any patch that would be chosen
  expect_refused({"stride is 13, but patches have only", "choose a smaller stride"});
  options = small_options();
  options.learning.inference.method = Method::factored;
  options.learning.batch.reset();
  options.learning.sigma = 12;
  expect_refused({"sigma is 12", "factored method learns the noise level"});
  options.learning.sigma.reset();
  options.noise = NoiseSource::measured;
  expect_refused({"noise is to be measured", "factored method learns it"});
}

TEST(Denoise, StopsWhenAsked) {
  const Picture noisy = add_noise(drawing(48), 25, false, 7);
  int calls = 0;
  Watching watch([&](const Progress&) { return ++calls < 4; });
  expect_error<Interrupted>([&] { denoise(noisy, small_options(), &watch); }, {"interrupted while learning"});
  EXPECT_LE(calls, 6);
}

TEST(Denoise, AsksWhetherToGoOnWithinAPass) {
  const Picture noisy = add_noise(drawing(96), 25, false, 7);
  int told = 0;
  double fraction = 0;
  Watching watch([&](const Progress& now) {
    ++told;
    EXPECT_GE(now.fraction, fraction);
    fraction = now.fraction;
    return true;
  });
  denoise(noisy, small_options(), &watch);
  EXPECT_GT(watch.asked, 6 * 10) << "six passes of some 15 batches";
  EXPECT_GT(told, 6);
}

TEST(Denoise, SmallPicturesGetSmallPatches) {
  DenoiseOptions options;
  options.quality = Quality::fast;
  options.learning.iterations = 2;
  for (const Index size : {4, 7, 12, 20}) {
    const Picture noisy = add_noise(drawing(size), 10, false, 8);
    const Denoised denoised = denoise(noisy, options);
    EXPECT_LE(denoised.learned[0].patch, size / 2);
    EXPECT_TRUE(denoised.picture.channels[0].allFinite());
  }
}

TEST(Noise, AddedNoiseHasItsStrengthAndIsEstimated) {
  const Picture clean = drawing(128);
  const Picture noisy = add_noise(clean, 20, false, 9);
  const Matrix noise = noisy.channels[0] - clean.channels[0];
  EXPECT_NEAR(std::sqrt(noise.squaredNorm() / static_cast<double>(noise.size())), 20, 0.5);
  const Picture clipped = add_noise(clean, 200, true, 9);
  EXPECT_GE(clipped.channels[0].minCoeff(), 0);
  EXPECT_LE(clipped.channels[0].maxCoeff(), 255);
  EXPECT_EQ(clipped.channels[0], clipped.channels[0].array().round().matrix());
  Picture plane = clean;
  for (Index y = 0; y < 128; ++y)
    for (Index x = 0; x < 128; ++x)
      plane.channels[0](y, x) = 0.3 * static_cast<double>(x) + 0.5 * static_cast<double>(y);
  EXPECT_NEAR(estimate_noise(add_noise(plane, 20, false, 10)), 20, 1);
}

TEST(Noise, SmallNumbersInMessages) {
  expect_says(error_of<UsageError>([] { add_noise(drawing(32), -1e-9, false, 1); }),
              "the noise to add is -1e-09; it must be");
  Picture flat = drawing(32);
  flat.channels[0].setConstant(1e-9);
  expect_says(error_of([&] { denoise(flat, {}); }), "the picture is flat (every pixel is 1e-09)");
}

/// As smoothed(), pixel by pixel: the mean of all pixels within three standard deviations along each side, rounded up,
/// with weights exp(-(squared distance) / (2 pixels^2)). Beyond a border the picture is its mirror image.
Matrix plainly_smoothed(const Matrix& channel, double pixels) {
  const auto reach = static_cast<Index>(std::ceil(3 * pixels));
  const auto mirrored = [](Index i, Index size) { return i < 0 ? -i : i < size ? i : 2 * (size - 1) - i; };
  Matrix result(channel.rows(), channel.cols());
  for (Index y = 0; y < channel.rows(); ++y)
    for (Index x = 0; x < channel.cols(); ++x) {
      double sum = 0, weights = 0;
      for (Index i = -reach; i <= reach; ++i)
        for (Index j = -reach; j <= reach; ++j) {
          const double weight = std::exp(-static_cast<double>(i * i + j * j) / (2 * pixels * pixels));
          sum += weight * channel(mirrored(y + i, channel.rows()), mirrored(x + j, channel.cols()));
          weights += weight;
        }
      result(y, x) = sum / weights;
    }
  return result;
}

TEST(Noise, SmoothingIsAGaussianWindow) {
  Random random(11);
  std::uniform_real_distribution<double> shade(0, 255);
  for (const double pixels : {0.4, 1.0, 1.7}) {  // at most 6 pixels to each side: one reflection is enough
    Picture picture;
    for (int c = 0; c < 3; ++c) picture.channels.push_back(Matrix::NullaryExpr(9, 13, [&] { return shade(random); }));
    picture.alpha = picture.channels[1];
    const Picture smooth = smoothed(picture, pixels);
    ASSERT_EQ(smooth.channels.size(), 3u);
    for (std::size_t c = 0; c < 3; ++c) {
      ASSERT_EQ(smooth.channels[c].rows(), 9);
      ASSERT_EQ(smooth.channels[c].cols(), 13);
      const Matrix expected = plainly_smoothed(picture.channels[c], pixels);
      EXPECT_LT((smooth.channels[c] - expected).cwiseAbs().maxCoeff(), 1e-10) << pixels << " pixels, channel " << c;
    }
    EXPECT_EQ(smooth.alpha, picture.alpha);
  }
}

TEST(Noise, SmoothingTakesPicturesSmallerThanTheWindow) {
  const Matrix two{{10, 20, 40}, {50, 60, 80}};
  Picture picture;
  picture.channels.push_back(two);
  const Matrix smooth = smoothed(picture, 2).channels[0];
  EXPECT_GT(smooth.minCoeff(), 10);
  EXPECT_LT(smooth.maxCoeff(), 80);
  EXPECT_LT(smooth.maxCoeff() - smooth.minCoeff(), 35) << "half of the range before";
}

}  // namespace
}  // namespace gsc::test
