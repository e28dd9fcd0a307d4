// Mixing known sources, scores, and inference in chunks: what only the program uses.

#include <gsc/generate.h>
#include <gsc/inference.h>
#include <gsc/noise.h>
#include <gsc/scores.h>
#include <gtest/gtest.h>

#include "expect_error.h"
#include "separate_support.h"
#include "watching.h"

namespace gsc::test {
namespace {

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
  bool go_on = true;
  Watching watch([&](const Progress& now) {
    told.push_back(std::lround(now.fraction * 70000));
    return go_on;
  });
  const Posterior chunks = infer(model, data, options, request, watch);
  EXPECT_EQ(told, (std::vector<Index>{65536, 70000}));
  const Posterior whole = infer(model, data, options, request);
  EXPECT_LT((chunks.mean - whole.mean).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((chunks.probability - whole.probability).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((chunks.variance - whole.variance).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((chunks.log_likelihood - whole.log_likelihood).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((chunks.state_weights - whole.state_weights).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_EQ(chunks.candidates, whole.candidates);
  EXPECT_EQ(chunks.max_active, whole.max_active);
  go_on = false;
  expect_error<Interrupted>([&] { infer(model, data, options, request, watch); }, {"interrupted"});
}

}  // namespace
}  // namespace gsc::test
