// Learning curves: when one method is as good as another, and that models kept on the way are what they should be.

#include "tasks/learning_curve.h"

#include <gsc/generate.h>
#include <gsc/metrics.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "checks.h"

namespace gsc::test {
namespace {

LearningCurve curve(const std::vector<double>& free_energies, const std::vector<std::optional<double>>& qualities) {
  LearningCurve result;
  for (std::size_t i = 0; i < free_energies.size(); ++i)
    result.push_back({static_cast<int>(i), 0.5 * static_cast<double>(i + 1), free_energies[i], qualities[i]});
  return result;
}

TEST(LearningCurve, JudgesOftenAtFirst) {
  std::vector<int> judged;
  for (int t = 0; t <= 120; ++t)
    if (is_judged(t)) judged.push_back(t);
  EXPECT_EQ(judged, (std::vector<int>{0, 1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112}));
}

TEST(LearningCurve, WhenAsGoodAsTheOther) {
  const LearningCurve slow = curve({-9, -5, -3, -2}, {10.0, {}, 30.0, 31.0});
  const LearningCurve fast = curve({-4, -3}, {20.0, 29.0});
  std::vector<Race> races = race({slow, fast}, Measure::free_energy);
  EXPECT_EQ(races[0].target, -3.0);
  EXPECT_EQ(races[0].seconds, 1.5);
  EXPECT_EQ(races[1].target, -2.0);
  EXPECT_FALSE(races[1].seconds);
  races = race({slow, fast}, Measure::psnr);
  EXPECT_EQ(races[0].seconds, 1.5);  // the second point is not judged
  EXPECT_FALSE(races[1].seconds);
  races = race({slow, fast}, Measure::amari);  // less is better
  EXPECT_EQ(races[0].target, 29.0);
  EXPECT_EQ(races[0].seconds, 0.5);
  EXPECT_EQ(races[1].seconds, 0.5);
}

TEST(LearningCurve, TheBestOfSeveralOthersCounts) {
  const LearningCurve a = curve({-9, -1}, {{}, 1.0}), b = curve({-9, -2}, {{}, {}}), c = curve({-1.5, -3}, {{}, 3.0});
  std::vector<Race> races = race({a, b, c}, Measure::free_energy);
  EXPECT_EQ(races[0].target, -2.0);
  EXPECT_EQ(races[1].target, -1.0);
  EXPECT_FALSE(races[1].seconds);
  EXPECT_FALSE(races[2].seconds) << "it once was at -1.5, but the target is -1";
  races = race({a, b, c}, Measure::psnr);
  EXPECT_EQ(races[1].target, 3.0) << "one that ends without a quality does not count";
  EXPECT_EQ(races[2].target, 1.0);
  races = race({a, curve({-8, -1 - 1e-13}, {{}, {}})}, Measure::free_energy);
  EXPECT_EQ(races[1].seconds, 1.0) << "equal up to rounding is as good";
}

TEST(LearningCurve, ModelsOnTheWayAreThoseOfShorterRuns) {
  Random random(2);
  const Matrix mixing = mixing_matrix(4, 0.2, random);
  const MatrixData data(superposition(mixing, Coefficients::laplace, 0.3, 400, random));
  FitOptions options;
  options.latents = 4;
  options.inference.candidates = options.inference.max_active = 4;
  options.iterations = 6;
  const Judge judge = [&](const Model& model) { return amari_index(model.W, mixing); };
  const LearningCurve curve = fit_with_curve(data, options, judge).curve;
  ASSERT_EQ(curve.size(), 7u);
  for (const int iterations : {0, 2, 6}) {
    options.iterations = iterations;
    const FitResult shorter = fit(data, options);
    const CurvePoint& point = curve[static_cast<std::size_t>(iterations)];
    EXPECT_EQ(point.free_energy, shorter.last().free_energy);
    EXPECT_EQ(point.quality, judge(shorter.model()));
  }
  EXPECT_FALSE(curve[4].quality);
  for (std::size_t i = 1; i < curve.size(); ++i) EXPECT_GT(curve[i].seconds, curve[i - 1].seconds);
}

TEST(LearningCurve, PicturesOnTheWayAreThoseOfShorterRuns) {
  const Picture clean = checks(24, 30), noisy = add_noise(clean, 20, false, 1);
  DenoiseOptions options;
  options.latents = 12;
  options.iterations = 4;
  options.models = 1;
  options.noise = NoiseSource::learned;
  options.batch = 0;
  options.nonlocal = options.groups = 0;
  const double noise = estimate_noise(noisy);
  const auto plan = [&](const DenoiseOptions& of) { return plan_denoising(noisy, of, {.std = noise}).models.front(); };
  for (const Method method : {Method::truncated, Method::factored}) {
    options.method = method;
    options.iterations = 4;
    const DenoisingCourse course = denoise_with_curve(noisy, clean, plan(options), noise, true);
    EXPECT_EQ(course.denoised.picture.channels[0], denoise(noisy, options).picture.channels[0]);
    for (const int iterations : {0, 3, 4}) {
      options.iterations = iterations;
      EXPECT_EQ(course.curve[static_cast<std::size_t>(iterations)].quality,
                psnr(clean, denoise(noisy, options).picture, 255));
    }
  }
  EXPECT_FALSE(denoise_with_curve(noisy, {}, plan(options), noise, true).curve.back().quality);
  const LearningCurve at_the_end = denoise_with_curve(noisy, clean, plan(options), noise, false).curve;
  EXPECT_TRUE(at_the_end.back().quality);
  EXPECT_EQ(std::count_if(at_the_end.begin(), at_the_end.end(), [](const CurvePoint& point) { return point.quality; }),
            1);
}

}  // namespace
}  // namespace gsc::test
