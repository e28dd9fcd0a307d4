// Comparing methods, mixing known sources, scores, and inference in chunks: what the program only prints.

#include "tasks/compare/compare.h"

#include <gsc/generate.h>
#include <gsc/inference.h>
#include <gsc/metrics.h>
#include <gtest/gtest.h>

#include "expect_error.h"
#include "separate_support.h"
#include "tasks/denoise/plan.h"

namespace gsc::test {
namespace {

/// Counts what it is told, and wants to stop after so many rows.
class Counter final : public CompareObserver {
 public:
  explicit Counter(int stop_after = 1 << 30) : stop_after_(stop_after) {}
  void on_plan(const Comparison& comparison) override {
    EXPECT_EQ(rows, 0) << "all is planned before anything is learned";
    planned = comparison.runs.size();
  }
  void on_iteration(const MethodRun&, const FitState&) override { ++rows; }
  void on_denoising(const MethodRun&, bool judging) override { ++(judging ? judged : denoised); }
  void on_note(const MethodRun& run, const std::string& note) override {
    notes.push_back(std::string(to_string(run.method())) + ": " + note);
  }
  std::vector<std::string> notes;
  bool stop_requested() override { return rows >= stop_after_; }
  std::size_t planned = 0;
  int rows = 0, denoised = 0, judged = 0;

 private:
  int stop_after_;
};

class Compare : public ::testing::Test {
 protected:
  Compare() : data_((mixing(3) * laplace(3, 200, 4)).transpose()) {
    options_.latents = 3;
    options_.iterations = 5;
    options_.tolerance = 0;
    picture_.channels.push_back(Matrix::NullaryExpr(
        20, 24, [](Index y, Index x) { return (x / 6 + y / 5) % 2 == 0 ? 60.0 : 190.0 - static_cast<double>(x); }));
    denoising_.latents = 8;
    denoising_.iterations = 3;
  }
  MatrixData data_;
  FitOptions options_;
  Picture picture_;
  DenoiseOptions denoising_;
};

TEST_F(Compare, OnATableEachMethodDoesWhatItDoesAlone) {
  const std::vector<Method> methods = {Method::exact, Method::factored};
  Counter counter;
  const Comparison comparison = compare_on_table(data_, options_, methods, mixing(3), counter);
  EXPECT_EQ(counter.planned, 2u);
  EXPECT_EQ(counter.rows, 2 * 6);
  EXPECT_EQ(comparison.measure, Measure::amari);
  ASSERT_EQ(comparison.runs.size(), 2u);
  for (const MethodRun& run : comparison.runs) {
    FitOptions alone = options_;
    alone.inference.method = run.method();
    const FitResult result = fit(data_, alone);
    EXPECT_EQ(run.fit.model().W, result.model().W);
    EXPECT_EQ(run.curve.back().quality, amari_index(result.model().W, mixing(3)));
  }
  EXPECT_EQ(comparison.runs[0].race.target, comparison.runs[1].curve.back().quality);
  Counter again;
  EXPECT_EQ(compare_on_table(data_, options_, methods, {}, again).measure, Measure::free_energy);
}

/// Who is told the noise, who guesses it and who learns it; what fit() notes is passed on.
TEST_F(Compare, SaysWhereTheNoiseLevelIsFrom) {
  const std::vector<Method> methods = {Method::exact, Method::ksvd, Method::online, Method::beta_process};
  const auto words = [](const Comparison& comparison) {
    std::vector<std::string> all;
    for (const MethodRun& run : comparison.runs) all.push_back(run.noise);
    return all;
  };
  using Words = std::vector<std::string>;
  Counter guessing, told;
  EXPECT_EQ(words(compare_on_table(data_, options_, methods, {}, guessing)),
            (Words{"learned", "estimated", "", "learned"}));
  ASSERT_EQ(guessing.notes.size(), 2u);
  EXPECT_EQ(guessing.notes[0].find("ksvd: the ksvd method must be told the noise level"), 0u) << guessing.notes[0];
  EXPECT_EQ(guessing.notes[1].find("beta-process: burn_in is 30"), 0u) << guessing.notes[1];
  options_.known_noise = 0.25;
  const Comparison comparison = compare_on_table(data_, options_, methods, {}, told);
  EXPECT_EQ(words(comparison), (Words{"learned", "told", "", "learned"}));
  EXPECT_EQ(told.notes.size(), 1u);
  EXPECT_EQ(comparison.runs[1].fit.last().noise_std, 0.25);
  EXPECT_NE(comparison.runs[0].fit.last().noise_std, 0.25);
  Counter painting;
  denoising_.sigma = 20;
  denoising_.max_active = 3;
  const Comparison painted = compare_on_picture(
      picture_, {}, denoising_, {Method::truncated, Method::ksvd, Method::beta_process, Method::feature_sign}, false,
      painting);
  EXPECT_EQ(words(painted), (Words{"learned", "told", "learned", "told"}));
  EXPECT_EQ(painted.runs[1].fit.last().noise_std, 20);
}

TEST_F(Compare, KnowsWhoHadMoreThanTheTimeForEach) {
  Comparison comparison;
  const LearningCurve curve{{0, 0.1, -1, {}}, {1, 2.5, -1, {}}};
  EXPECT_FALSE(comparison.overran(curve)) << "no limit";
  comparison.seconds = 2.4;
  EXPECT_FALSE(comparison.overran(curve)) << "the iteration in work is finished";
  comparison.seconds = 1;
  EXPECT_TRUE(comparison.overran(curve));
}

TEST_F(Compare, WhatOneMethodCannotDoIsRefusedBeforeAnyWork) {
  options_.noise = NoiseType::full;
  Counter counter;
  expect_error<UsageError>(
      [&] {
        compare_on_table(data_, options_, {Method::truncated, Method::factored}, {}, counter);
      },
      {"noise is full", "factored"});
  denoising_.latents = 21;
  expect_error<UsageError>(
      [&] {
        compare_on_picture(picture_, {}, denoising_, {Method::truncated, Method::exact}, false, counter);
      },
      {"method is exact with 21 latents"});
  EXPECT_EQ(counter.planned, 0u);
  EXPECT_EQ(counter.rows, 0);
}

TEST_F(Compare, WhatIsNotTheSameIsNotRanked) {
  Counter counter;
  options_.known_noise = 0;
  const std::vector<Method> methods = {Method::exact, Method::ksvd};
  const Comparison without = compare_on_table(data_, options_, methods, {}, counter);
  EXPECT_FALSE(without.same_objective());
  for (const MethodRun& run : without.runs) {
    EXPECT_FALSE(run.race.target);
    EXPECT_FALSE(run.race.seconds);
  }
  // Both have an objective of the lasso, but not the same.
  for (const Coding coding : {Coding::lasso, Coding::bounded, Coding::omp}) {
    Counter counting;
    options_.inference.coding.coding = coding;
    const Comparison lassos = compare_on_table(data_, options_, {Method::online, Method::feature_sign}, {}, counting);
    EXPECT_EQ(lassos.same_objective(), coding == Coding::lasso) << to_string(coding);
    EXPECT_EQ(lassos.runs[0].race.target.has_value(), coding == Coding::lasso) << to_string(coding);
  }
  options_.inference.coding.coding = Coding::lasso;
  Counter again;
  const Comparison with = compare_on_table(data_, options_, methods, mixing(3), again);
  EXPECT_EQ(with.runs[0].race.target, with.runs[1].curve.back().quality) << "a quality is the same for all";
}

TEST_F(Compare, EqualTimes) {
  options_.iterations = 1 << 24;
  Counter counter;
  const Comparison comparison =
      compare_on_table(data_, options_, {Method::exact, Method::factored}, mixing(3), counter, 0.1);
  for (const MethodRun& run : comparison.runs) {
    EXPECT_TRUE(run.out_of_time);
    EXPECT_GE(run.curve.size(), 2u);
    EXPECT_TRUE(run.curve.back().quality);
  }
}

TEST_F(Compare, OnAPictureOnlyTheEndIsJudgedUnlessAskedFor) {
  const Picture noisy = add_noise(picture_, 20, false, 1);
  const std::vector<Method> methods = {Method::truncated, Method::factored};
  Counter at_the_end, on_the_way;
  const Comparison few = compare_on_picture(noisy, picture_, denoising_, methods, false, at_the_end);
  const Comparison all = compare_on_picture(noisy, picture_, denoising_, methods, true, on_the_way);
  EXPECT_EQ(at_the_end.judged, 0);
  EXPECT_GE(on_the_way.judged, 2 * 3) << "three models before the last, of each method";
  EXPECT_EQ(at_the_end.denoised, on_the_way.denoised);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(few.runs[i].picture.channels[0], all.runs[i].picture.channels[0]);
    EXPECT_EQ(few.runs[i].score->psnr, psnr(picture_, few.runs[i].picture, 255));
    EXPECT_EQ(few.runs[i].race.target, all.runs[i].race.target);
    EXPECT_FALSE(few.runs[i].race.seconds);
    EXPECT_FALSE(few.runs[i].curve[1].quality);
    EXPECT_TRUE(all.runs[i].curve[1].quality);
  }
  // Without the truth the free energy decides, which is known all along.
  Counter counter;
  EXPECT_TRUE(compare_on_picture(noisy, {}, denoising_, methods, false, counter).judged_on_the_way);
}

TEST_F(Compare, CanBeStopped) {
  Counter counter(3);
  expect_error<Interrupted>([&] { compare_on_table(data_, options_, {Method::exact}, {}, counter); }, {"interrupted"});
  Counter other(3);
  expect_error<Interrupted>([&] { compare_on_picture(picture_, {}, denoising_, {Method::truncated}, false, other); },
                            {"interrupted"});
}

TEST(Mixing, IsWhatItSays) {
  const Matrix sources = laplace(4, 5000, 1);
  const KnownMixture quiet = mix(sources, 0, 0, 7);
  EXPECT_EQ(quiet.sources, sources);
  EXPECT_LT((quiet.mixing * quiet.mixing.transpose() - Matrix::Identity(4, 4)).norm(), 1e-12);
  EXPECT_LT((quiet.mixture - quiet.mixing * sources).norm(), 1e-9);
  const KnownMixture noisy = mix(sources, 0, 0.5, 7);
  EXPECT_EQ(noisy.mixing, quiet.mixing);
  EXPECT_NEAR((noisy.mixture - quiet.mixture).norm() / std::sqrt(4 * 5000.0), 0.5, 0.02);
  EXPECT_GT((mix(sources, 2, 0, 7).mixing - quiet.mixing).norm(), 2);
  EXPECT_NE(mix(sources, 0, 0, 8).mixing, quiet.mixing);
}

TEST(Scores, OfSeparatedSources) {
  const KnownMixture truth = mix(laplace(3, 400, 1), 0.3, 0, 2);
  Separation separation;
  separation.sources = truth.sources.colwise().reverse();
  separation.mixing = -2 * truth.mixing.rowwise().reverse();
  const SeparationScore perfect = score_of(truth, separation);
  ASSERT_TRUE(perfect.amari);
  EXPECT_NEAR(*perfect.amari, 0, 1e-12);
  for (Index i = 0; i < 3; ++i) {
    EXPECT_EQ(perfect.matches[static_cast<std::size_t>(i)].found, 2 - i);
    EXPECT_NEAR(perfect.matches[static_cast<std::size_t>(i)].correlation, 1, 1e-12);
  }
  separation.mixing.setZero();
  EXPECT_FALSE(score_of(truth, separation).amari) << "a singular matrix has none";
  separation.mixing = Matrix::Identity(3, 2);
  EXPECT_FALSE(score_of(truth, separation).amari) << "nor has one that is not square";
}

TEST(Scores, OfASmallPictureLackSsim) {
  Picture picture;
  picture.channels.push_back(
      Matrix::NullaryExpr(10, 30, [](Index y, Index x) { return 3 * static_cast<double>(y + x); }));
  const PictureScore small = score_of(picture, add_noise(picture, 9, false, 1), add_noise(picture, 3, false, 2));
  EXPECT_GT(small.psnr, small.psnr_noisy + 6);
  EXPECT_FALSE(small.ssim || small.ssim_noisy);
  picture.channels[0].conservativeResize(20, 30);
  picture.channels[0].bottomRows(10) = picture.channels[0].topRows(10);
  EXPECT_TRUE(score_of(picture, add_noise(picture, 9, false, 1), picture).ssim);
}

TEST(InferInChunks, IsTheSameAsAtOnce) {
  Random random(3);
  const Model model = bars_model(6, random);
  const MatrixData data(sample(model, 70000, random).data);
  const PosteriorRequest request{.variance = true, .states = 2, .candidates = true};
  InferenceOptions options;
  std::vector<Index> told;
  const Posterior chunks = infer_in_chunks(model, data, options, request, [&](Index done) { told.push_back(done); });
  EXPECT_EQ(told, (std::vector<Index>{65536, 70000}));
  const Posterior whole = infer(model, data, options, request);
  EXPECT_LT((chunks.mean - whole.mean).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((chunks.probability - whole.probability).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((chunks.variance - whole.variance).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((chunks.log_likelihood - whole.log_likelihood).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((chunks.state_weights - whole.state_weights).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(chunks.candidates, whole.candidates);
  EXPECT_EQ(chunks.max_active, whole.max_active);
  expect_error<Interrupted>([&] { infer_in_chunks(model, data, options, request, {}, [] { return true; }); },
                            {"interrupted"});
}

}  // namespace
}  // namespace gsc::test
