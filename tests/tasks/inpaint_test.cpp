// Inpainting: the algebra of groups with gaps against the formula in double, and pictures drawn here end to end. Floors
// are what the method reaches with room for other processors.

#include <gsc/inpaint.h>
#include <gsc/metrics.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>

#include "expect_error.h"
#include "inpaint_support.h"
#include "tasks/inpaint/deep_holes.h"
#include "tasks/inpaint/deviation_scale.h"
#include "tasks/inpaint/held_out.h"
#include "tasks/inpaint/masked_group_filter.h"
#include "tasks/inpaint/masked_groups.h"
#include "tasks/inpaint/model_pilot.h"
#include "tasks/inpaint/plan.h"
#include "tasks/noise/observed_noise.h"
#include "tasks/picture/patches.h"
#include "watching.h"

namespace gsc::test {
namespace {

TEST(MaskedGroupFilter, EqualsTheFormulaInDouble) {
  Random random(3);
  std::normal_distribution<double> normal;
  for (const Index D : {1, 9, 25, 75}) {
    const Index K = 14;
    MaskedGroupFilter filter(D, K);
    Matrix X(K, D);
    for (double& value : X.reshaped()) value = 100 + 20 * normal(random);
    for (Index k = 0; k < K; ++k)
      for (Index d = 0; d < D; ++d) filter.pilot(k)[d] = static_cast<float>(X(k, d));
    constexpr double ridge = 4, noise = 2;
    filter.prepare(K, ridge);
    const Eigen::RowVectorXd mean = X.colwise().mean();
    const Matrix centred = X.rowwise() - mean;
    Eigen::MatrixXd C = centred.transpose() * centred / static_cast<double>(K - 1);
    C.diagonal().array() += ridge;
    for (const double share : {0.0, 0.3, 0.7, 0.95, 1.0}) {
      std::vector<Index> places;
      for (Index d = 0; d < D; ++d)
        if (std::uniform_real_distribution<double>()(random) < share) places.push_back(d);
      const auto n = static_cast<Index>(places.size());
      Eigen::VectorXd y(n), residual(n);
      Eigen::MatrixXd A(n, n), cross(D, n);
      for (Index i = 0; i < n; ++i) {
        const Index at = places[static_cast<std::size_t>(i)];
        y[i] = 100 + 30 * normal(random);
        filter.places()[i] = static_cast<std::uint32_t>(at);
        filter.values()[i] = static_cast<float>(y[i]);
        residual[i] = y[i] - mean[at];
        cross.col(i) = C.col(at);
        for (Index j = 0; j < n; ++j) A(i, j) = C(at, places[static_cast<std::size_t>(j)]) + (i == j ? noise : 0);
      }
      filter.fill(n, noise);
      const Eigen::LLT<Eigen::MatrixXd> factor(A);
      for (Index d = 0; d < D; ++d) {
        double expected = mean[d], variance = C(d, d);
        if (n > 0) {
          expected += cross.row(d).dot(factor.solve(residual));
          variance -= cross.row(d).dot(factor.solve(cross.row(d).transpose()));
        }
        EXPECT_NEAR(filter.mean()[d], expected, 0.02) << D << ' ' << n << ' ' << d;
        EXPECT_NEAR(filter.variance()[d], variance, 0.02 * C(d, d)) << D << ' ' << n << ' ' << d;
      }
      const std::vector<double> mean_of_all(filter.mean(), filter.mean() + D);
      const std::vector<double> variance_of_all(filter.variance(), filter.variance() + D);
      filter.fill_missing(n, noise);
      for (Index d = 0, next = 0; d < D; ++d) {
        if (next < n && places[static_cast<std::size_t>(next)] == d) {
          ++next;
          continue;
        }
        const auto at = static_cast<std::size_t>(d);
        EXPECT_NEAR(filter.mean()[d], mean_of_all[at], 0.02) << D << ' ' << n << ' ' << d;
        EXPECT_NEAR(filter.variance()[d], variance_of_all[at], 0.01 + 1e-3 * variance_of_all[at]);
      }
    }
  }
}

TEST(Inpaint, FillsWhatIsMissingAndKeepsWhatIsThere) {
  for (const int channels : {1, 3}) {
    const Picture clean = waves(72, channels);
    const Picture damaged = drop_values(clean, 0.3, false, 1);
    const Inpainted filled = inpaint(damaged, quick());
    const double guess = psnr(clean, first_guess(damaged), 255), psnr_filled = psnr(clean, filled.picture, 255);
    std::cout << channels << " channels: first guess " << guess << " dB, filled " << psnr_filled << " dB, held out "
              << filled.held_out.psnr << " dB\n";
    EXPECT_GT(psnr_filled, guess + 5);
    EXPECT_TRUE(filled.kept);
    EXPECT_EQ(filled.missing, missing_values(damaged));
    for (std::size_t c = 0; c < clean.channels.size(); ++c)
      for (Index i = 0; i < clean.channels[c].size(); ++i) {
        const double observed = damaged.channels[c].data()[i];
        ASSERT_TRUE(std::isfinite(filled.picture.channels[c].data()[i]));
        if (std::isnan(observed)) {
          EXPECT_GT(filled.std.channels[c].data()[i], 0);
          continue;
        }
        EXPECT_EQ(filled.picture.channels[c].data()[i], observed);
        EXPECT_EQ(filled.std.channels[c].data()[i], 0);
      }
  }
}

/// A model of patches of another picture of the same kind, with their means or without.
PatchModel learned_from(const Picture& picture, Index patch, bool remove_mean) {
  const PatchData patches(picture, grid_positions(picture.height(), picture.width(), patch, 1), remove_mean);
  FitOptions options;
  options.latents = 20;
  options.iterations = 15;
  options.inference.candidates = 8;
  options.inference.max_active = 3;
  return {fit(patches, options).model(), options.inference};
}

TEST(Inpaint, AModelLearnedElsewhereMakesTheFirstGuess) {
  for (const int channels : {1, 3})
    for (const bool remove_mean : {false, true}) {
      SCOPED_TRACE(::testing::Message() << channels << " channels, means removed: " << remove_mean);
      const Picture clean = waves(56, channels), damaged = drop_values(clean, 0.25, false, 1);
      InpaintOptions options = quick();
      options.learned = std::make_shared<const PatchModel>(learned_from(waves(64, channels), 6, remove_mean));
      const Picture plain = first_guess(damaged), guess = model_guess(damaged, *options.learned, plain, 1);
      const double by_smoothing = psnr(clean, plain, 255), by_model = psnr(clean, guess, 255);
      std::cout << by_smoothing << " dB by smoothing, " << by_model << " dB by the model\n";
      EXPECT_GT(by_model, by_smoothing + 1);
      options.groups = 0;
      const Inpainted alone = inpaint(damaged, options);
      EXPECT_EQ(alone.picture.channels, guess.channels);
      options.groups.reset();
      EXPECT_GT(psnr(clean, inpaint(damaged, options).picture, 255), by_smoothing + 5);
    }
}

/// The picture as far as it was when the watcher had enough.
Picture interrupted_picture(const Picture& damaged, const InpaintOptions& options, Watcher& watcher) {
  try {
    inpaint(damaged, options, &watcher);
  } catch (const Interrupted& error) {
    EXPECT_STREQ(error.what(), "interrupted while inpainting");
    if (error.picture) return *error.picture;
  }
  throw Error("inpainting was not interrupted, or there is no picture");
}

TEST(Inpaint, AModelsGuessIsPlannedWatchedAndStopped) {
  const Picture damaged = drop_values(waves(64), 0.4, false, 1);
  InpaintOptions options = quick();
  const double without = make_plan(damaged, options).seconds();
  options.learned = std::make_shared<const PatchModel>(learned_from(waves(64), 6, false));
  const InpaintPlan plan = make_plan(damaged, options);
  EXPECT_GT(plan.guess_seconds, 0);
  EXPECT_NEAR(plan.seconds() - plan.guess_seconds, without, 0.11) << "0.1 is the least that is told";
  options.groups = 0;
  std::vector<double> fractions;
  Watching watch([&](const Progress& now) {
    EXPECT_EQ(now.round, 0);
    fractions.push_back(now.fraction);
    return true;
  });
  inpaint(damaged, options, &watch);
  ASSERT_GT(fractions.size(), 10U);
  EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
  EXPECT_EQ(fractions.front(), 0);
  EXPECT_LE(fractions.back(), 1);
  int calls = 0;
  Watching stop([&](const Progress&) { return ++calls < 3; });
  EXPECT_FALSE(interrupted_picture(damaged, options, stop).channels[0].hasNaN());
  EXPECT_EQ(calls, 3);
}

TEST(Inpaint, AModelOfOtherPatchesIsRefused) {
  InpaintOptions options = quick();
  const PatchModel grey = learned_from(waves(40, 1), 4, false);
  options.learned = std::make_shared<const PatchModel>(grey);
  const Picture colour = drop_values(waves(40, 3), 0.5, false, 1);
  expect_error<UsageError>([&] { inpaint(colour, options); }, {"16 dimensions", "P x P x 3"});
  PatchModel large = learned_from(waves(40, 1), 9, false);
  options.learned = std::make_shared<const PatchModel>(large);
  Picture small = drop_values(waves(40, 1), 0.5, false, 1);
  small.channels[0] = small.channels[0].topRows(8).eval();
  expect_error<UsageError>([&] { inpaint(small, options); }, {"9 x 9 pixels", "x 8"});
  PatchModel full = grey;
  full.model.noise = Noise::full(Matrix::Identity(16, 16));
  options.learned = std::make_shared<const PatchModel>(full);
  expect_error<UsageError>([&] { inpaint(drop_values(waves(40, 1), 0.5, false, 1), options); },
                           {"noise is full", "scalar or diagonal"});
}

TEST(Inpaint, EveryRoundHelpsAndNoneIsTheFirstGuess) {
  const Picture clean = waves(72), damaged = drop_values(clean, 0.3, false, 2);
  InpaintOptions options = quick();
  double before = 0;
  for (const int rounds : {0, 1, 4, 8}) {
    options.groups = rounds;
    const double now = psnr(clean, inpaint(damaged, options).picture, 255);
    EXPECT_GT(now, before + (rounds == 8 ? 0 : 0.5)) << rounds;
    if (rounds == 0) {
      EXPECT_DOUBLE_EQ(now, psnr(clean, first_guess(damaged), 255));
    }
    before = now;
  }
}

TEST(Inpaint, WhatTheMaskHidesCannotMatter) {
  const Picture clean = waves(48, 3);
  Picture mask = clean;
  Random random(5);
  for (Matrix& channel : mask.channels)
    for (double& value : channel.reshaped()) value = std::uniform_real_distribution<double>()(random) < 0.5 ? 255 : 0;
  const auto filled = [&](double hidden) {
    Picture damaged = clean;
    for (std::size_t c = 0; c < 3; ++c)
      for (Index i = 0; i < damaged.channels[c].size(); ++i)
        if (mask.channels[c].data()[i] != 0) damaged.channels[c].data()[i] = hidden;
    return inpaint(with_gaps(damaged, mask), quick()).picture;
  };
  const Picture a = filled(0);
  for (const double hidden : {1e300, kNan, std::numeric_limits<double>::infinity()}) {
    const Picture b = filled(hidden);
    for (std::size_t c = 0; c < 3; ++c) EXPECT_EQ(a.channels[c], b.channels[c]) << hidden;
  }
}

TEST(Inpaint, ThreadsGiveTheSameBits) {
  const Picture damaged = drop_values(waves(60, 3), 0.4, true, 1);
  InpaintOptions options = quick();
  const Inpainted one = inpaint(damaged, options);
  options.threads = 3;
  const Inpainted three = inpaint(damaged, options);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_EQ(one.picture.channels[c], three.picture.channels[c]);
    EXPECT_EQ(one.std.channels[c], three.std.channels[c]);
  }
}

TEST(Inpaint, HeldOutValuesTellTheErrorWithoutTheTruth) {
  const Picture clean = waves(128);
  for (const bool random : {true, false}) {
    const Picture damaged = random ? drop_values(clean, 0.35, false, 1) : scratches(clean);
    InpaintOptions options = quick();
    const Inpainted filled = inpaint(damaged, options);
    EXPECT_EQ(filled.held_out.shaped, !random);
    double square = 0, within = 0, missing = 0;
    for (Index i = 0; i < clean.channels[0].size(); ++i) {
      if (!std::isnan(damaged.channels[0].data()[i])) continue;
      const double error = filled.picture.channels[0].data()[i] - clean.channels[0].data()[i];
      square += error * error;
      within += std::abs(error) <= 2 * filled.std.channels[0].data()[i] ? 1 : 0;
      missing += 1;
    }
    const double rmse = std::sqrt(square / missing);
    std::cout << "held out " << filled.held_out.rmse << " (" << filled.held_out.values << " values), true " << rmse
              << "; covered " << within / missing << '\n';
    // The values come back for the last rounds, so the result is better than they say.
    EXPECT_LT(rmse, filled.held_out.rmse * 1.1);
    EXPECT_GT(rmse, filled.held_out.rmse * 0.5);
    EXPECT_GT(filled.held_out.values, 100);
    // Told by values set aside, each half by the other; true of those that are missing.
    std::cout << "coverage told " << filled.held_out.coverage << '\n';
    EXPECT_NEAR(filled.held_out.coverage, within / missing, 0.05);
    EXPECT_GT(within / missing, 0.9);
    EXPECT_LT(within / missing, 0.995);
  }
}

struct ScaleFound {
  double scale, coverage;
};

/// Errors of so many values with variances from 0.2 to 2, of which the true ones are scale^2 times (of the second half
/// another), and noise.
ScaleFound scale_found(double scale, double noise, double taken_for, double told, double second = 0) {
  constexpr int kValues = 1500;
  Random random(7);
  std::normal_distribution<double> normal;
  std::vector<double> squares, variances;
  for (int i = 0; i < kValues; ++i) {
    variances.push_back(std::exp(std::uniform_real_distribution<double>(-1.6, 0.7)(random)));
    const double here = second > 0 && i >= kValues / 2 ? second : scale;
    const double error = here * std::sqrt(variances.back()) * normal(random) + noise * normal(random);
    squares.push_back(error * error);
  }
  return {deviation_scale(squares, variances, taken_for, told).scale,
          coverage_across(squares, variances, kValues / 2, taken_for, told)};
}

/// Two deviations of the half that errs by 1 hold P(|z| < 2/3) = 0.495 of what errs by 3; the other way round all.
TEST(DeviationScale, DoesNotJudgeItselfByWhatItIsMadeOf) {
  EXPECT_NEAR(scale_found(1, 0, 0, 0.03, 3).coverage, (0.495 + 1) / 2, 0.03);
  EXPECT_NEAR(scale_found(3, 0, 0, 0.03, 1).coverage, (0.495 + 1) / 2, 0.03);
  EXPECT_NEAR(scale_found(3, 0, 0, 0.03).coverage, 0.95, 0.015);
}

TEST(DeviationScale, IsFoundUnderNoiseAndStaysNearOneWhereNoiseHidesIt) {
  for (const double scale : {0.3, 1.0, 4.0}) {
    EXPECT_NEAR(scale_found(scale, 0, 0, 0.03).scale, scale, 0.08 * scale) << "no noise: two hold 95 %";
    EXPECT_NEAR(scale_found(scale, 0.5 * scale, 0.5 * scale, 0.03).scale, scale, 0.15 * scale);
  }
  // Much noise, and taken for more or less than it is: it must not be taken for errors, nor eat them up.
  for (const double taken_for : {18.0, 20.0, 22.0}) {
    const ScaleFound found = scale_found(1, 20, taken_for, 0.05);
    EXPECT_GT(found.scale, 0.6) << taken_for;
    EXPECT_LT(found.scale, 2) << taken_for;
    EXPECT_NEAR(found.coverage, 0.95, 0.02) << taken_for;
  }
}

TEST(Inpaint, DeviationsHoldTheErrorsWhereNoiseIsTakenOut) {
  Picture smooth = waves(80);
  for (Index y = 0; y < 80; ++y)
    for (Index x = 0; x < 80; ++x)
      smooth.channels[0](y, x) =
          100 + 40 * std::sin(static_cast<double>(x) / 15) + 30 * std::cos(static_cast<double>(y) / 12);
  for (const Picture& clean : {smooth, waves(80)})
    for (const bool told : {true, false}) {
      const Picture damaged = drop_values(add_noise(clean, 20, false, 2), 0.6, false, 3);
      InpaintOptions options = quick();
      if (told)
        options.noise = 20;
      else
        options.keep_observed = false;
      const Inpainted filled = inpaint(damaged, options);
      const Matrix error = filled.picture.channels[0] - clean.channels[0];
      const double covered = static_cast<double>((error.array().abs() <= 2 * filled.std.channels[0].array()).count()) /
                             static_cast<double>(error.size());
      const double rmse = std::sqrt(error.squaredNorm() / static_cast<double>(error.size()));
      std::cout << "covered " << covered << ", error " << rmse << ", held out " << filled.held_out.rmse
                << (filled.held_out.at_least ? " at most" : "") << ", scale " << filled.held_out.scale << '\n';
      EXPECT_GT(covered, 0.9);
      EXPECT_LT(covered, 0.995);
      EXPECT_GT(filled.held_out.rmse, 0.7 * rmse) << "no error at all is never told";
      if (filled.held_out.at_least) {
        EXPECT_GT(filled.held_out.rmse, rmse);
      }
    }
}

TEST(Inpaint, UnitsDoNotMatter) {
  Picture picture = drop_values(waves(48), 0.4, false, 1);
  picture.depth = PixelDepth::real32;
  const Inpainted filled = inpaint(picture, quick());
  for (const auto& [scale, offset] : {std::pair{1e-6, 0.0}, {1.0, 1000.0}, {1e6, -1e7}, {-3e-3, 5.0}}) {
    Picture other = picture;
    other.channels[0] = (scale * picture.channels[0].array() + offset).matrix();
    const Inpainted same = inpaint(other, quick());
    const Matrix back = ((same.picture.channels[0].array() - offset) / scale).matrix();
    EXPECT_LT((back - filled.picture.channels[0]).cwiseAbs().maxCoeff(), 0.01) << scale << ' ' << offset;
    EXPECT_LT((same.std.channels[0] / std::abs(scale) - filled.std.channels[0]).cwiseAbs().maxCoeff(), 0.01);
    EXPECT_NEAR(same.held_out.scale, filled.held_out.scale, 0.01);
    EXPECT_NEAR(same.held_out.rmse / std::abs(scale), filled.held_out.rmse, 0.01);
  }
}

/// As microscopes write them: 12 of 16 bits, and of these a part.
TEST(Inpaint, AFewOfManyShadesAreFilledAsWell) {
  Picture clean = waves(64);
  clean.depth = PixelDepth::bits16;
  clean.channels[0] = (3 * clean.channels[0]).array().round().matrix();
  const Picture damaged = drop_values(clean, 0.4, false, 1);
  EXPECT_GT(psnr(clean, inpaint(damaged, quick()).picture, 765), psnr(clean, first_guess(damaged), 765) + 5);
}

TEST(Inpaint, TakesNoiseOutOfWhatIsObserved) {
  const Picture clean = waves(96), noisy = add_noise(clean, 15, false, 3);
  const Picture damaged = drop_values(noisy, 0.6, false, 1);
  InpaintOptions options = quick();
  options.keep_observed = false;
  const Inpainted filled = inpaint(damaged, options);
  EXPECT_FALSE(filled.kept);
  EXPECT_GT(filled.noise.std, 12);
  EXPECT_LT(filled.noise.std, 40);  // the waves are texture, which counts as noise
  EXPECT_TRUE(inpaint(damaged, quick()).kept);
  options = quick();
  options.noise = 15;
  const double told = psnr(clean, inpaint(damaged, options).picture, 255);
  options.keep_observed = true;
  const Inpainted kept = inpaint(damaged, options);
  std::cout << "noise told: " << told << " dB, observed kept: " << psnr(clean, kept.picture, 255) << " dB\n";
  EXPECT_GT(told, psnr(clean, noisy, 255) + 3);
  EXPECT_GT(told, psnr(clean, kept.picture, 255) + 2);
  EXPECT_TRUE(kept.kept);
}

TEST(Inpaint, NoiseIsMeasuredInWhatIsThere) {
  Picture smooth = waves(160);
  for (Index y = 0; y < 160; ++y)
    for (Index x = 0; x < 160; ++x) smooth.channels[0](y, x) = 60 + 0.5 * static_cast<double>(x) + (y > 80 ? 40 : 0);
  for (const double observed : {0.2, 0.5, 1.0})
    for (const double sigma : {0.0, 5.0, 25.0}) {
      const Picture damaged = drop_values(add_noise(smooth, sigma, false, 2), observed, false, 4);
      EXPECT_NEAR(measure_observed_noise(damaged).std, sigma, 0.12 * sigma + 0.01) << observed << ' ' << sigma;
    }
}

TEST(Inpaint, LargeHolesAreFilledFromTheOutsideIn) {
  const Picture clean = waves(96);
  Picture damaged = clean;
  damaged.channels[0].block(30, 40, 26, 26).setConstant(kNan);
  EXPECT_EQ(depth_of_holes(damaged).maxCoeff(), 13);
  const Inpainted filled = inpaint(damaged, quick());
  EXPECT_GT(filled.shells, 2);
  EXPECT_EQ(filled.deepest, 13);
  const double guess = psnr(clean, first_guess(damaged), 255), now = psnr(clean, filled.picture, 255);
  std::cout << "a hole of 26 x 26: first guess " << guess << " dB, filled " << now << " dB\n";
  EXPECT_GT(now, guess + 3);
  // Small holes have no shells.
  EXPECT_EQ(inpaint(scratches(clean), quick()).shells, 0);
}

/// A deep hole is judged by holes as deep, not by what a small window shows of it.
TEST(Inpaint, WhatIsSetAsideIsAsDeepAsTheHolesAre) {
  Picture damaged = waves(200);
  damaged.channels[0].block(20, 40, 30, 30).setConstant(kNan);
  const Matrix before = damaged.channels[0];
  const HeldOutSet aside = hold_out(damaged, 3);
  ASSERT_EQ(aside.kinds.size(), 1U);
  EXPECT_TRUE(aside.kinds[0].shaped);
  EXPECT_GT(aside.values(), 500U);
  for (const HeldOutValue& one : aside.kinds[0].values) {
    EXPECT_EQ(before(one.row, one.col), one.value);
    EXPECT_TRUE(std::isnan(damaged.channels[0](one.row, one.col)));
  }
  Table<std::int32_t> depth = depth_of_holes(damaged);
  depth.block(20, 40, 30, 30).setZero();
  EXPECT_GE(depth.maxCoeff(), 12);
}

/// A few values tell nothing, so none are set aside; single ones are where single ones are missing.
TEST(Inpaint, AFewValuesDoNotJudge) {
  for (const bool pixel : {true, false}) {
    Picture damaged = waves(40);
    damaged.channels[0](20, 20) = kNan;
    if (!pixel) damaged.channels[0](20, 21) = kNan;
    const Picture before = damaged;
    const HeldOutSet aside = hold_out(damaged, 1);
    if (pixel) {
      EXPECT_GE(aside.values(), 40U);
      EXPECT_FALSE(aside.kinds[0].shaped);
      continue;
    }
    EXPECT_EQ(aside.values(), 0U);
    EXPECT_EQ(missing_values(damaged), 2) << "all that was observed is there";
    const Inpainted filled = inpaint(before, quick());
    EXPECT_EQ(filled.held_out.values, 0);
    EXPECT_EQ(filled.held_out.scale, 1);
  }
}

TEST(Inpaint, ManyBandsAreFilledThreeByThree) {
  EXPECT_EQ(channels_together(1).size(), 1U);
  EXPECT_EQ(channels_together(4).size(), 1U);
  const auto sets = channels_together(7);
  ASSERT_EQ(sets.size(), 3U);
  EXPECT_EQ(sets[2], (std::vector<Index>{4, 5, 6}));
  const Picture clean = waves(40, 7), damaged = drop_values(clean, 0.4, false, 1);
  const Inpainted filled = inpaint(damaged, quick());
  EXPECT_GT(psnr(clean, filled.picture, 255), psnr(clean, first_guess(damaged), 255) + 3);
}

TEST(Inpaint, NothingMissingNothingChanges) {
  const Picture clean = waves(40);
  const Inpainted same = inpaint(clean, quick());
  EXPECT_EQ(same.missing, 0);
  EXPECT_EQ(same.picture.channels[0], clean.channels[0]);
  EXPECT_EQ(same.held_out.values, 0);
  EXPECT_EQ(same.group_rounds, 0);
}

TEST(Inpaint, TinyPicturesAndSingleValuesWork) {
  for (const Index size : {4, 5, 7}) {
    Picture damaged = waves(size);
    damaged.channels[0](1, 2) = kNan;
    EXPECT_FALSE(inpaint(damaged, quick()).picture.channels[0].hasNaN()) << size;
    damaged.channels[0].setConstant(kNan);
    damaged.channels[0](2, 1) = 77;
    const Picture filled = inpaint(damaged, quick()).picture;
    EXPECT_NEAR(filled.channels[0].minCoeff(), 77, 1e-3);
    EXPECT_NEAR(filled.channels[0].maxCoeff(), 77, 1e-3);
  }
}

TEST(Inpaint, StopsWhenAsked) {
  const Picture damaged = drop_values(waves(64), 0.3, false, 1);
  int calls = 0;
  Watching watch([&](const Progress&) { return ++calls < 5; });
  const Picture best = interrupted_picture(damaged, quick(), watch);
  // Values that are set aside for now are in it, as all that is observed.
  const Matrix &before = damaged.channels[0], &after = best.channels[0];
  EXPECT_FALSE(after.hasNaN());
  EXPECT_EQ(before.array().isNaN().select(after, before), after);
}

/// Pixels between references that are further apart than patches are wide were in no group.
TEST(Inpaint, SmallPatchesLeaveNothingOut) {
  for (const Quality quality : {Quality::fast, Quality::standard}) {
    InpaintOptions options = quick();
    options.quality = quality;
    options.patch = 2;
    Picture damaged = waves(40);
    for (Index at = 0; at < 40; ++at) damaged.channels[0](at, (7 * at) % 40) = kNan;
    const Inpainted filled = inpaint(damaged, options);
    for (Index at = 0; at < 40; ++at) EXPECT_GT(filled.std.channels[0](at, (7 * at) % 40), 0) << at;
  }
}

TEST(Inpaint, AFirstGuessHasNoDeviations) {
  InpaintOptions options = quick();
  options.groups = 0;
  EXPECT_TRUE(inpaint(drop_values(waves(40), 0.5, false, 1), options).std.channels.empty());
  EXPECT_TRUE(inpaint(waves(40), options).std.channels[0].isZero()) << "nothing is missing";
}

/// As long as it took to fill all bands together, and as much memory: the cube of their number.
TEST(Inpaint, DeepHolesOfManyBandsAreFilledInGroupsOfBands) {
  const Picture clean = waves(32, 25);
  Picture damaged = clean;
  for (Matrix& band : damaged.channels) band.block(6, 8, 13, 13).setConstant(kNan);
  Picture pilot = first_guess(damaged);
  const double guess = psnr(clean, pilot, 255);
  Picture threads = pilot, stopped = pilot;
  int asked = 0;
  const int shells = fill_deep_holes(damaged, 7, 1, pilot, [&] { return ++asked < 0; });
  EXPECT_GT(shells, 1);
  EXPECT_GT(asked, shells) << "asked within shells";
  EXPECT_GT(psnr(clean, pilot, 255), guess + 1);
  fill_deep_holes(damaged, 7, 1, threads, {}, 3);
  EXPECT_EQ(threads.channels, pilot.channels);
  expect_error<Interrupted>([&] { fill_deep_holes(damaged, 7, 1, stopped, [] { return true; }); }, {"interrupted"});
  EXPECT_GT(make_plan(damaged, quick()).hole_seconds, 0);
  EXPECT_EQ(make_plan(scratches(clean), quick()).hole_seconds, 0);
}

TEST(Inpaint, HolesReachTheLastRow) {
  // An odd number of places for patches: the last row is between two steps.
  for (const Index size : {96, 97}) {
    const Picture clean = waves(size);
    Picture damaged = clean;
    damaged.channels[0].block(size - 24, 30, 24, 24).setConstant(kNan);
    Picture pilot = first_guess(damaged);
    const Matrix guess = pilot.channels[0];
    EXPECT_GT(fill_deep_holes(damaged, 9, 1, pilot, {}), 2);
    const Matrix change = (pilot.channels[0] - guess).row(size - 1).segment(32, 20);
    EXPECT_GT(change.cwiseAbs().minCoeff(), 0) << size << ": every pixel is in a patch";
  }
}

TEST(Inpaint, RefusesWhatMakesNoSense) {
  const Picture picture = waves(32);
  Picture none = picture;
  none.channels[0].setConstant(kNan);
  expect_error<Error>([&] { inpaint(none, quick()); }, {"every value of the picture is missing", "nothing to fill"});
  expect_error<Error>([&] { inpaint(waves(3), quick()); }, {"3 x 3 pixels", "at least 4"});
  // It was filled with a constant, with deviations of 0.1, and told as 57 dB.
  Picture bands = waves(24, 13);
  bands.channels[1].setConstant(kNan);
  expect_error<Error>([&] { inpaint(bands, quick()); }, {"channel 2 (from 1) of 13 has no observed value", "leave"});
  for (std::size_t c = 1; c < 13; ++c) bands.channels[c].setConstant(kNan);
  expect_error<Error>([&] { inpaint(bands, quick()); }, {"channels 2, 3, ", ", 11 and 2 more (from 1) of 13 have no"});
  bands.channels[12](3, 4) = 100;
  expect_error<Error>([&] { inpaint(bands, quick()); }, {", 11 and 1 more (from 1)"});
  Picture infinite = picture;
  infinite.channels[0](4, 6) = std::numeric_limits<double>::infinity();
  expect_error<Error>([&] { inpaint(infinite, quick()); }, {"is inf", "row 4, column 6", "at most 1e15", "missing"});
  infinite.channels[0](4, 6) = -1e30;
  expect_error<Error>([&] { inpaint(infinite, quick()); }, {"-1e+30", "row 4, column 6", "at most 1e15", "scale"});
  expect_error<Error>([&] { with_gaps(picture, waves(31)); }, {"31 x 31", "32 x 32", "must be equal"});
  expect_error<Error>([&] { with_gaps(picture, waves(32, 3)); }, {"3 channels", "picture has 1"});
  InpaintOptions options = quick();
  options.patch = 30;
  expect_error<UsageError>([&] { inpaint(waves(24), options); }, {"patch is 30", "24 x 24", "smaller patches"});
  options.patch = 33;
  expect_error<UsageError>([&] { inpaint(picture, options); }, {"patch is 33", "between 2 and 32"});
  options = quick();
  options.noise = -1;
  expect_error<UsageError>([&] { inpaint(picture, options); }, {"noise is -1", "at least 0"});
}

}  // namespace
}  // namespace gsc::test
