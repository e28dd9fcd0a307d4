// Learning curves: when one method is as good as another, and that models kept on the way are what they should be.

#include "tasks/compare/learning_curve.h"

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

TEST(LearningCurve, WhereLessIsBetter) {
  const LearningCurve slow = curve({9, 5, 3, 2}, {{}, {}, {}, {}}), fast = curve({4, 3}, {{}, {}});
  const std::vector<Race> races = race_to_the_least({slow, fast});
  EXPECT_EQ(races[0].target, 3.0);
  EXPECT_EQ(races[0].seconds, 1.5);
  EXPECT_EQ(races[1].target, 2.0);
  EXPECT_FALSE(races[1].seconds);
}

/// Tells when rows came, and may stop.
class Rows final : public Observer {
 public:
  explicit Rows(int stop_after = 1 << 30) : stop_after_(stop_after) {}
  void on_iteration(const FitState&) override { ++rows_; }
  bool stop_requested() override { return rows_ >= stop_after_; }

 private:
  int stop_after_, rows_ = 0;
};

TEST(LearningCurve, TimeEndsLearningAtACompleteIteration) {
  Random random(2);
  const MatrixData data(superposition(mixing_matrix(4, 0.2, random), Coefficients::laplace, 0.3, 400, random));
  FitOptions options;
  options.latents = 4;
  options.iterations = 1 << 24;
  options.tolerance = 0;
  options.inference.threads = 1;
  const FitCourse course = fit_with_curve(data, options, {}, nullptr, {.seconds = 0.1});
  EXPECT_TRUE(course.out_of_time);
  EXPECT_EQ(course.fit.reason, StopReason::iterations);
  // What it has is what so many iterations give.
  options.iterations = course.fit.last().iteration;
  EXPECT_EQ(fit(data, options).model().W, course.fit.model().W);
  // However little time there is, one iteration is done.
  options.iterations = 1 << 24;
  EXPECT_GE(fit_with_curve(data, options, {}, nullptr, {.seconds = 1e-9}).fit.last().iteration, 1);
  // All iterations done in time, or stopped by the one who watches: not out of time.
  options.iterations = 2;
  EXPECT_FALSE(fit_with_curve(data, options, {}, nullptr, {.seconds = 1e6}).out_of_time);
  options.iterations = 1 << 24;
  Rows stop(3);
  const FitCourse stopped = fit_with_curve(data, options, {}, &stop, {.seconds = 1e6});
  EXPECT_FALSE(stopped.out_of_time);
  EXPECT_EQ(stopped.fit.reason, StopReason::interrupted);
}

TEST(LearningCurve, JudgingKeepsToItsTime) {
  const Picture clean = checks(90, 100), noisy = add_noise(clean, 20, false, 1);
  DenoiseOptions options;
  options.latents = 12;
  options.iterations = 30;
  options.models = 1;
  options.noise = NoiseSource::learned;
  options.batch = 0;
  options.nonlocal = options.groups = 0;
  const double noise = estimate_noise(noisy);
  const ModelPlan plan = plan_denoising(noisy, options, {.std = noise}).models.front();
  const auto judged = [](const LearningCurve& curve) {
    return std::count_if(curve.begin(), curve.end(), [](const CurvePoint& point) { return point.quality.has_value(); });
  };
  const DenoisingCourse all = denoise_with_curve(noisy, clean, plan, noise, {.judge_on_the_way = true});
  EXPECT_EQ(all.judged_part, 1);
  EXPECT_EQ(judged(all.curve), 11);  // 0, 1, 2, 3, 5, 7, 10, 14, 20, 28 and the last
  // With next to no time: few, on the smallest part there is, four patches on a side.
  const DenoisingCourse few =
      denoise_with_curve(noisy, clean, plan, noise, {.judge_on_the_way = true, .most_judging = 1e-9});
  EXPECT_EQ(judged(few.curve), 7);
  EXPECT_NEAR(few.judged_part, 16.0 * static_cast<double>(plan.patch * plan.patch) / (90 * 100), 1e-12);
  EXPECT_EQ(few.curve.back().quality, all.curve.back().quality);
  // A part tells about the whole: a model that is much better is so on the part as well.
  EXPECT_TRUE(few.curve[28].quality);
  EXPECT_NEAR(*few.curve[28].quality, *all.curve[28].quality, 0.5);
}

TEST(LearningCurve, TimeEndsThatOfPictures) {
  const Picture clean = checks(24, 30), noisy = add_noise(clean, 20, false, 1);
  DenoiseOptions options;
  options.latents = 12;
  options.iterations = 1 << 24;
  options.models = 1;
  options.noise = NoiseSource::learned;
  options.batch = 0;
  options.nonlocal = options.groups = 0;
  const double noise = estimate_noise(noisy);
  const ModelPlan plan = plan_denoising(noisy, options, {.std = noise}).models.front();
  const DenoisingCourse course = denoise_with_curve(noisy, clean, plan, noise, {.seconds = 0.1});
  EXPECT_TRUE(course.out_of_time);
  EXPECT_EQ(course.curve.back().quality, psnr(clean, course.denoised.picture, 255));
  options.iterations = course.curve.back().iteration;
  EXPECT_EQ(denoise(noisy, options).picture.channels[0], course.denoised.picture.channels[0]);
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
    const DenoisingCourse course = denoise_with_curve(noisy, clean, plan(options), noise, {.judge_on_the_way = true});
    EXPECT_EQ(course.denoised.picture.channels[0], denoise(noisy, options).picture.channels[0]);
    for (const int iterations : {0, 3, 4}) {
      options.iterations = iterations;
      EXPECT_EQ(course.curve[static_cast<std::size_t>(iterations)].quality,
                psnr(clean, denoise(noisy, options).picture, 255));
    }
  }
  EXPECT_FALSE(denoise_with_curve(noisy, {}, plan(options), noise, {.judge_on_the_way = true}).curve.back().quality);
  const LearningCurve at_the_end = denoise_with_curve(noisy, clean, plan(options), noise, {}).curve;
  EXPECT_TRUE(at_the_end.back().quality);
  EXPECT_EQ(std::count_if(at_the_end.begin(), at_the_end.end(), [](const CurvePoint& point) { return point.quality; }),
            1);
}

}  // namespace
}  // namespace gsc::test
