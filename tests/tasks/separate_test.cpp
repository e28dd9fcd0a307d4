// Source separation: recovery of known sources, which source is which.

#include <gsc/metrics.h>
#include <gsc/scores.h>
#include <gsc/separate.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "expect_error.h"
#include "separate_support.h"
#include "tasks/separate/prepared_channels.h"
#include "tasks/separate/separate_internal.h"

namespace gsc::test {
namespace {

/// As match_sources(), by trying every order.
double best_total(const Matrix& truth, const Matrix& found) {
  std::vector<Index> order(found.rows());
  for (Index i = 0; i < found.rows(); ++i) order[i] = i;
  const auto correlation = [&](Index i, Index j) {
    const Eigen::RowVectorXd a = truth.row(i).array() - truth.row(i).mean(),
                             b = found.row(j).array() - found.row(j).mean();
    return std::abs(a.dot(b)) / (a.norm() * b.norm());
  };
  double best = 0;
  do {
    double total = 0;
    for (Index i = 0; i < truth.rows(); ++i) total += correlation(i, order[i]);
    best = std::max(best, total);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(Separate, RecoversALaplaceMixture) {
  const Matrix sources = laplace(3, 3000, 1), A = mixing(3);
  SeparateOptions options;
  options.restarts = 4;
  const Separation separation = separate(A * sources, options);
  EXPECT_LT(amari_index(separation.mixing, A), 0.1);
  ASSERT_EQ(separation.sources.rows(), 3);
  ASSERT_EQ(separation.sources.cols(), 3000);
  for (const SourceMatch& match : match_sources(sources, separation.sources)) EXPECT_GT(match.correlation, 0.9);
}

TEST(Separate, NormaliseTakesOutLevelAndScale) {
  const Matrix sources = laplace(2, 800, 2);
  const Matrix mixture = mixing(2) * sources;
  Matrix plain = mixture;
  const Vector deviations = normalise(plain);
  for (Index c = 0; c < 2; ++c) {
    EXPECT_NEAR(plain.row(c).mean(), 0, 1e-14);
    EXPECT_NEAR(plain.row(c).squaredNorm() / 800, 1, 1e-13);
    const Matrix centred = mixture.row(c).array() - mixture.row(c).mean();
    EXPECT_LT((plain.row(c) * deviations[c] - centred).cwiseAbs().maxCoeff(), 1e-13);
  }
  // A power of two changes no bit, even where squares would leave the range of doubles.
  for (const double factor : {1024.0, 0x1p-6, 0x1p700, 0x1p-700}) {
    Matrix scaled = mixture;
    scaled.row(0) *= factor;
    EXPECT_EQ(normalise(scaled)[0], factor * deviations[0]);
    EXPECT_EQ(scaled, plain);
  }
  Matrix constant = mixture;
  constant.row(1).setConstant(3);
  expect_error<Error>([&] { normalise(constant, "half.wav: channel"); },
                      {"half.wav: channel 2 is constant", "its variance cannot be made 1; leave it out"});
}

TEST(Separate, WhatIsFoundIsAboutTheNormalisedChannels) {
  const Matrix A = mixing(2);
  Matrix mixture = A * laplace(2, 3000, 2);
  mixture.row(0) *= 50;
  mixture.row(1).array() += 7;
  const Vector deviations = normalise(mixture);
  SeparateOptions options;
  options.restarts = 4;
  options.whiten = Whiten::off;
  Matrix found = separate(mixture, options).mixing;
  EXPECT_EQ(found, separate(mixture, options).fit.model().W);
  Matrix scaled = A;
  scaled.row(0) *= 50;
  EXPECT_LT(amari_index(deviations.asDiagonal() * found, scaled), 0.1);
}

TEST(Separate, WhiteningGivesTheMixingOfTheChannels) {
  const Matrix sources = laplace(3, 3000, 1);
  Matrix A = mixing(3);
  A.row(1) = A.row(0) + 0.01 * A.row(1);  // two channels nearly the same
  SeparateOptions options;
  options.restarts = 4;
  options.whiten = Whiten::off;
  options.start_from_fastica = false;  // which would find it, as it whitens
  const Separation plain = separate(A * sources, options);
  EXPECT_EQ(plain.mixing, plain.fit.model().W);
  options.whiten = Whiten::on;
  const Separation white = separate(A * sources, options);
  EXPECT_GT(amari_index(plain.mixing, A), 0.2);
  EXPECT_LT(amari_index(white.mixing, A), 0.1);
  for (const SourceMatch& match : match_sources(sources, white.sources)) EXPECT_GT(match.correlation, 0.9);
  // What is learned explains the channels, in their units.
  const Matrix explained = white.mixing * white.sources;
  EXPECT_LT((explained - A * sources).norm(), 0.5 * (A * sources).norm());
}

TEST(Separate, UnitsAndLevelsDoNotMatter) {
  const Matrix mixture = mixing(3) * laplace(3, 400, 5);
  for (const Whiten whiten : {Whiten::automatic, Whiten::off}) {
    SCOPED_TRACE(to_string(whiten));
    SeparateOptions options;
    options.restarts = 3;
    options.learning.iterations = 60;
    options.whiten = whiten;
    const Separation here = separate(mixture, options);
    for (const double unit : {1e-14, 1e-3, 1e6}) {
      const Separation there = separate(Matrix(unit * (mixture.array() + 5)), options);
      EXPECT_EQ(there.winner, here.winner);
      EXPECT_LT((there.mixing - unit * here.mixing).cwiseAbs().maxCoeff(), 1e-5 * unit);
      EXPECT_LT((there.sources - here.sources).cwiseAbs().maxCoeff(), 1e-4) << unit;
    }
  }
}

/// Posteriors of the mixture under the model that was learned are the sources, and their free energy is that of the
/// fit.
void expect_model_of(const Matrix& mixture, const SeparateOptions& options) {
  const Separation found = separate(mixture, options);
  const FitOptions of_model = options_of_model(options.resolved(mixture.rows()), found);
  EXPECT_NO_THROW(of_model.validate());
  EXPECT_EQ(of_model.noise, found.fit.model().noise.type());
  const Posterior posterior = infer(found.fit.model(), MatrixData(Matrix(mixture.transpose())), of_model.inference);
  EXPECT_NEAR(posterior.log_likelihood.sum() / found.fit.last().free_energy, 1, 1e-7);
  EXPECT_LT((posterior.mean.transpose() - found.sources).cwiseAbs().maxCoeff(), 1e-5);
  EXPECT_EQ(found.free_energies[static_cast<std::size_t>(found.winner)], found.fit.last().free_energy);
  EXPECT_NEAR(found.fit.last().noise_std / std::sqrt(found.fit.model().noise.mean_variance()), 1, 1e-12);
  EXPECT_EQ(found.mixing, found.fit.model().W);
}

TEST(Separate, TheModelIsAboutTheChannelsAsTheyCame) {
  const Matrix mixture = 1e-6 * (mixing(3) * laplace(3, 400, 5)).array() + 2e-6;
  SeparateOptions options;
  options.restarts = 2;
  for (const Whiten whiten : {Whiten::off, Whiten::on, Whiten::automatic})
    for (const Intercept intercept : {Intercept::learned, Intercept::none})
      for (const NoiseType noise : {NoiseType::scalar, NoiseType::full}) {
        SCOPED_TRACE(std::string(to_string(whiten)) + " " + std::string(to_string(intercept)));
        options.whiten = whiten;
        options.learning.intercept = intercept;
        options.learning.noise = noise;
        expect_model_of(mixture, options);
      }
}

TEST(Separate, TheModelKnowsTheDirectionsThatWereLeftOut) {
  const Matrix sources = laplace(4, 400, 1);
  SeparateOptions options;
  options.restarts = 2;
  options.learning.latents = 2;
  expect_model_of(mixing(4) * sources, options);  // those of two sources, which are noise then
  Matrix twice = mixing(4) * sources;
  twice.row(3) = twice.row(0) - 2 * twice.row(1);
  options.learning.latents.reset();
  expect_model_of(twice, options);  // a direction without any variance
}

TEST(Separate, TheModelHasTheSameCandidates) {
  SeparateOptions options;
  options.restarts = 1;
  options.learning.iterations = 20;
  options.learning.inference.candidates = options.learning.inference.max_active = 3;
  expect_model_of(mixing(6) * laplace(6, 400, 5), options);
}

TEST(Separate, OfTheFactoredMethodAPointEstimateIsLeftWhereChannelsWereWhitened) {
  const Matrix mixture = mixing(3) * laplace(3, 1000, 5);
  SeparateOptions options;
  options.restarts = 1;
  options.learning.inference.method = Method::factored;
  const Separation found = separate(mixture, options);
  ASSERT_TRUE(found.whitened);
  EXPECT_EQ(found.fit.model().W_variance.size(), 0);
  const FitOptions of_model = options_of_model(options.resolved(3), found);
  EXPECT_EQ(of_model.inference.method, Method::exact);
  const Posterior posterior = infer(found.fit.model(), MatrixData(Matrix(mixture.transpose())), of_model.inference);
  for (const SourceMatch& match : match_sources(found.sources, posterior.mean.transpose()))
    EXPECT_GT(match.correlation, 0.99);
}

TEST(Separate, ValuesThatCannotBeSquaredAreRefused) {
  for (const double unit : {1e-180, 1e180})
    expect_error<Error>([&] { separate(unit * laplace(3, 100, 5), {}); },
                        {"the mixture has values up to", "squares", "another unit"});
}

TEST(Separate, WhitensUnlessThereIsMostlyNoise) {
  const Matrix sources = laplace(3, 2000, 1), A = mixing(3);
  Random random(4);
  Matrix noise(3, 2000);
  std::normal_distribution<double> normal;
  for (double& value : noise.reshaped()) value = normal(random);
  SeparateOptions options;
  options.restarts = 2;
  options.learning.iterations = 100;
  const Separation quiet = separate(A * sources, options);
  EXPECT_TRUE(quiet.whitened);
  ASSERT_FALSE(quiet.notes.empty());
  expect_says(quiet.notes[0], {"channels are whitened first", "% of what that leaves is noise"});
  const Separation noisy = separate(A * sources + 4 * noise, options);
  EXPECT_FALSE(noisy.whitened);
  ASSERT_FALSE(noisy.notes.empty());
  expect_says(noisy.notes[0], {"whitened channels are", "% noise", "as they are"});
}

TEST(Separate, FewerSourcesThanChannels) {
  const Matrix sources = laplace(2, 2000, 1);
  Matrix A(4, 2);
  A << 1, 0.5, -0.3, 1, 0.7, 0.7, 0.2, -1;
  SeparateOptions options;
  options.restarts = 3;
  options.learning.latents = 2;
  const Separation found = separate(A * sources, options);
  EXPECT_TRUE(found.whitened);
  EXPECT_EQ(found.mixing.rows(), 4);
  EXPECT_EQ(found.mixing.cols(), 2);
  EXPECT_EQ(found.fit.model().dimensions(), 4);
  for (const SourceMatch& match : match_sources(sources, found.sources)) EXPECT_GT(match.correlation, 0.95);
  // Two of the four channels follow from the others, and need not be looked at.
  ASSERT_FALSE(found.notes.empty());
  expect_says(found.notes[0], {"2 of 4 channels follow from the others", "left out"});
}

TEST(Separate, TellsOfSourcesThatAreNearlyTheSame) {
  Matrix sources = laplace(4, 1000, 1);
  EXPECT_TRUE(duplicates_of(sources).empty());
  sources.row(2) = 7 - 2 * sources.row(0).array() + 0.1 * sources.row(1).array();
  const std::vector<std::string> notes = duplicates_of(sources);
  ASSERT_EQ(notes.size(), 1U);
  expect_says(notes[0], {"sources 1 and 3 are nearly the same", "correlation -1"});
}

TEST(Separate, TellsOfStartsThatDisagree) {
  EXPECT_TRUE(note_of_starts({-100, -100.5, -103, -200}, 100).empty());
  const std::vector<std::string> notes = note_of_starts({-100, -103, -105, -200}, 100);
  ASSERT_EQ(notes.size(), 1U);
  expect_says(notes[0], {"only 1 of 4 starts", "try more restarts"});
}

TEST(Separate, WhitenedChannelsAreUncorrelated) {
  for (const double unit : {1.0, 1e200, 1e-200}) {
    Matrix rows = unit * mixing(4) * laplace(4, 500, 3);
    rows.array() += 7 * unit;
    const Matrix before = rows, undo = whiten(rows, "m", 4, Dependent::refused).undo;
    const Matrix covariance = rows * rows.transpose() / 500;
    EXPECT_LT((covariance - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(), 1e-12);
    const Matrix centred = before.colwise() - before.rowwise().mean();
    EXPECT_LT((undo * rows - centred).cwiseAbs().maxCoeff(), 1e-12 * centred.cwiseAbs().maxCoeff());
  }
  Matrix dependent = laplace(3, 500, 3);
  dependent.row(2) = dependent.row(0) - 2 * dependent.row(1);
  expect_error<Error>([&] { whiten(dependent, "m", 3, Dependent::refused); },
                      {"m: 1 of 3 channels follow from the others", "do not whiten"});
}

TEST(Separate, ChoosesTheMethod) {
  SeparateOptions options;
  const FitOptions small = options.resolved(12), large = options.resolved(13);
  EXPECT_EQ(small.latents, 12);
  EXPECT_EQ(small.inference.method, Method::exact);
  EXPECT_EQ(large.inference.method, Method::truncated);
  EXPECT_EQ(large.inference.candidates, 10);
  EXPECT_EQ(large.inference.max_active, 10);
  EXPECT_EQ(large.iterations, 350);
  options.learning.latents = 13;
  EXPECT_EQ(options.resolved(4).inference.method, Method::truncated);
  options.restarts = 0;
  expect_error<UsageError>([&] { options.resolved(4); }, {"restarts is 0", "at least 1"});
}

TEST(Separate, RefusesWhatCannotBeSeparated) {
  const SeparateOptions options;
  const auto refused = [&](const Matrix& mixture, Parts parts) {
    expect_error<Error>([&] { separate(mixture, options); }, parts);
  };
  refused(Matrix::Random(1, 100), {"the mixture has 1 channel;", "at least two recordings"});
  refused(Matrix::Random(5, 4), {"fewer samples (4) than channels (5)", "is it transposed"});
  refused(Matrix::Zero(2, 100), {"the mixture has nothing but constant channels", "is it the right one?"});
  Matrix mixture = Matrix::Random(2, 100);
  mixture(1, 7) = std::numeric_limits<double>::quiet_NaN();
  refused(mixture, {"channel 2 of the mixture is NaN at sample 7", "remove or replace"});
}

TEST(MatchSources, FindsOrderAndIgnoresSign) {
  const Matrix truth = laplace(4, 500, 4);
  Matrix found(5, 500);
  found << -3 * truth.row(2), truth.row(0), Matrix::Constant(1, 500, 0.1), truth.row(3), truth.row(1);
  const std::vector<SourceMatch> matches = match_sources(truth, found);
  const std::vector<Index> order = {1, 4, 0, 3};
  for (Index i = 0; i < 4; ++i) {
    EXPECT_EQ(matches[i].found, order[i]);
    EXPECT_NEAR(matches[i].correlation, 1, 1e-12);
  }
  // Fewer found than there are: the others have none.
  const std::vector<SourceMatch> few = match_sources(truth, found.topRows(2));
  EXPECT_EQ(few[0].found, 1);
  EXPECT_EQ(few[1].found, -1);
  EXPECT_EQ(few[2].found, 0);
  EXPECT_EQ(few[3].correlation, 0);
}

TEST(MatchSources, IsTheBestOfAllOrders) {
  Random random(6);
  for (int trial = 0; trial < 50; ++trial) {
    // Few samples, so that every source correlates with every other and greedy choices go wrong.
    const Matrix truth = laplace(5, 8, random()), found = laplace(5, 8, random());
    double total = 0;
    for (const SourceMatch& match : match_sources(truth, found)) total += match.correlation;
    EXPECT_NEAR(total, best_total(truth, found), 1e-12);
  }
}

}  // namespace
}  // namespace gsc::test
