// FastICA: the fixed point that it must end in, sources that are known, and what it does as a start for learning.

#include <gsc/denoise.h>
#include <gsc/metrics.h>
#include <gsc/restarts.h>
#include <gsc/scores.h>
#include <gsc/separate.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "expect_error.h"
#include "separate_support.h"
#include "tasks/separate/fastica.h"
#include "tasks/separate/fastica_kernel.h"
#include "tasks/separate/fastica_separation.h"
#include "tasks/separate/prepared_channels.h"

namespace gsc::test {
namespace {

double g(Nonlinearity nonlinearity, double y) {
  switch (nonlinearity) {
    case Nonlinearity::tanh:
      return std::tanh(y);
    case Nonlinearity::cube:
      return y * y * y;
    case Nonlinearity::gauss:
      return y * std::exp(-y * y / 2);
  }
  return 0;
}

/// By differences of g.
double slope(Nonlinearity nonlinearity, double y) {
  constexpr double kStep = 1e-5;
  return (g(nonlinearity, y + kStep) - g(nonlinearity, y - kStep)) / (2 * kStep);
}

TEST(Fastica, NonlinearitiesAndTheirSlopes) {
  for (const Nonlinearity nonlinearity : kValues<Nonlinearity>)
    for (Index count = 1; count < 40; ++count) {
      SCOPED_TRACE(std::string(to_string(nonlinearity)) + " of " + std::to_string(count));
      Vector values = Vector::Zero(count + kNonlinearityWidth);
      values.head(count).setLinSpaced(count, -4, 5);
      const Vector before = values;
      const double sum = apply_nonlinearity(nonlinearity, values.data(), count);
      double expected = 0;
      for (Index n = 0; n < count; ++n) {
        EXPECT_NEAR(values[n], g(nonlinearity, before[n]), 1e-14 * std::max(1.0, std::abs(values[n])));
        expected += slope(nonlinearity, before[n]);
      }
      EXPECT_NEAR(sum, expected, 1e-6);
    }
  for (const double far : {-1e150, -800.0, 800.0, 1e150}) {  // no NaN where the exponential has vanished
    Vector values = Vector::Constant(kNonlinearityWidth, far);
    EXPECT_EQ(apply_nonlinearity(Nonlinearity::tanh, values.data(), 1), 0);
    EXPECT_EQ(values[0], far < 0 ? -1 : 1);
  }
}

/// Row by row E[x g(w'x)] - E[g'(w'x)] w, straight from the formula.
Matrix newton_step(const Matrix& white, const Matrix& W, Nonlinearity nonlinearity) {
  Matrix step = Matrix::Zero(W.rows(), W.cols());
  for (Index h = 0; h < W.rows(); ++h)
    for (Index n = 0; n < white.cols(); ++n) {
      const double y = W.row(h).dot(white.col(n));
      const double at = nonlinearity == Nonlinearity::tanh   ? 1 - std::tanh(y) * std::tanh(y)
                        : nonlinearity == Nonlinearity::cube ? 3 * y * y
                                                             : (1 - y * y) * std::exp(-y * y / 2);
      step.row(h) +=
          (g(nonlinearity, y) * white.col(n).transpose() - at * W.row(h)) / static_cast<double>(white.cols());
    }
  return step;
}

Matrix whitened_mixture(Index sources, Index samples, std::uint64_t seed) {
  Matrix white = mixing(sources) * laplace(sources, samples, seed);
  whiten(white, "m", sources, Dependent::refused);
  return white;
}

Matrix random_start(Index size, std::uint64_t seed) {
  Random random(seed);
  return mixing_matrix(size, 0.5, random);
}

/// In both ways there is nothing left that a further step would change, and rows are orthonormal.
TEST(Fastica, EndsInAFixedPoint) {
  const Matrix white = whitened_mixture(5, 3000, 1), start = random_start(5, 2);
  for (const Nonlinearity nonlinearity : kValues<Nonlinearity>)
    for (const Decorrelation decorrelation : kValues<Decorrelation>) {
      SCOPED_TRACE(std::string(to_string(nonlinearity)) + " " + std::string(to_string(decorrelation)));
      FasticaOptions options;
      options.nonlinearity = nonlinearity;
      options.decorrelation = decorrelation;
      options.tolerance = 1e-15;
      const FasticaDirections found = fastica(white, start, options, 1);
      EXPECT_LT((found.W * found.W.transpose() - Matrix::Identity(5, 5)).cwiseAbs().maxCoeff(), 1e-12);
      // M = P S W with P positive definite (the polar decomposition) and signs S: M W' S is symmetric.
      // One by one: M_h has parts along w_h and those before it only, M W' is lower triangular.
      const Matrix M = newton_step(white, found.W, nonlinearity) * found.W.transpose();
      if (decorrelation == Decorrelation::symmetric) {
        const Matrix P = M * M.diagonal().cwiseSign().asDiagonal();
        EXPECT_LT((P - P.transpose()).cwiseAbs().maxCoeff(), 1e-7);
      } else {
        EXPECT_LT(Matrix(M.triangularView<Eigen::StrictlyUpper>()).cwiseAbs().maxCoeff(), 1e-7);
      }
    }
}

TEST(Fastica, FindsTheFixedPointToRoundingWhereItGoesOn) {
  const Matrix white = whitened_mixture(4, 2000, 3);
  FasticaOptions options;
  options.tolerance = 0;
  options.iterations = 60;
  const FasticaDirections found = fastica(white, random_start(4, 1), options, 1);
  EXPECT_FALSE(found.run.converged);  // nobody asked
  EXPECT_EQ(found.run.iterations, 60);
  const Matrix M = newton_step(white, found.W, options.nonlinearity) * found.W.transpose();
  const Matrix P = M * M.diagonal().cwiseSign().asDiagonal();
  EXPECT_LT((P - P.transpose()).cwiseAbs().maxCoeff(), 1e-12);
  // A single direction: E[x g(w'x)] - E[g'(w'x)] w is a multiple of w.
  options.decorrelation = Decorrelation::deflation;
  const Matrix w = fastica(white, random_start(4, 1), options, 1).W.topRows(1);
  const Matrix step = newton_step(white, w, options.nonlinearity);
  EXPECT_LT((step - step * w.transpose() * w).norm(), 1e-12);
}

TEST(Fastica, RecoversKnownSources) {
  const Matrix A = mixing(4);
  Matrix sources = laplace(4, 5000, 1);
  sources.row(1) = sources.row(1).cwiseSign();  // as light as tails can be
  for (const Nonlinearity nonlinearity : kValues<Nonlinearity>)
    for (const Decorrelation decorrelation : kValues<Decorrelation>) {
      SCOPED_TRACE(std::string(to_string(nonlinearity)) + " " + std::string(to_string(decorrelation)));
      SeparateOptions options;
      options.method = SeparateMethod::fastica;
      options.fastica.nonlinearity = nonlinearity;
      options.fastica.decorrelation = decorrelation;
      const Matrix mixture = (A * sources).array() + 3;
      const Separation found = separate(mixture, options);
      ASSERT_TRUE(found.fastica);
      EXPECT_TRUE(found.fastica->converged);
      EXPECT_LT(amari_index(found.mixing, A), 0.06);
      for (const SourceMatch& match : match_sources(sources, found.sources)) EXPECT_GT(match.correlation, 0.99);
      // Variance 1, uncorrelated, and they give the channels back.
      EXPECT_LT((found.sources * found.sources.transpose() / 5000 - Matrix::Identity(4, 4)).cwiseAbs().maxCoeff(),
                1e-10);
      const Matrix back = (found.mixing * found.sources).colwise() + mixture.rowwise().mean();
      EXPECT_LT((back - mixture).cwiseAbs().maxCoeff(), 1e-10);
      EXPECT_TRUE(found.fit.state.history.empty());
      EXPECT_TRUE(found.free_energies.empty());
      EXPECT_FALSE(found.noise_share);
    }
}

SeparateOptions by_fastica() {
  SeparateOptions options;
  options.method = SeparateMethod::fastica;
  return options;
}

TEST(Fastica, BitsDoNotDependOnThreads) {
  const Matrix mixture = mixing(3) * laplace(3, 200000, 1);
  SeparateOptions options = by_fastica();
  options.learning.inference.threads = 1;
  const Separation one = separate(mixture, options);
  options.learning.inference.threads = 3;
  EXPECT_EQ(separate(mixture, options).sources, one.sources);
}

TEST(Fastica, UnitsAndLevelsDoNotMatter) {
  const Matrix mixture = mixing(3) * laplace(3, 400, 5);
  const Separation here = separate(mixture, by_fastica());
  for (const double unit : {1e-200, 1e-3, 1e200}) {
    const Separation there = separate(Matrix(unit * (mixture.array() + 5)), by_fastica());
    EXPECT_LT((there.sources - here.sources).cwiseAbs().maxCoeff(), 1e-6) << unit;
    EXPECT_LT((there.mixing - unit * here.mixing).cwiseAbs().maxCoeff(), 1e-6 * unit);
  }
}

TEST(Fastica, StartsFromAGivenMixing) {
  const Matrix A = mixing(3), mixture = A * laplace(3, 1000, 5);
  SeparateOptions options = by_fastica();
  options.fastica.start = A;
  options.fastica.iterations = 1;
  // One step from the truth keeps order and sign up to what FastICA's step turns round.
  const Separation one = separate(mixture, options);
  const Matrix cosines = (A.colwise().normalized().transpose() * one.mixing.colwise().normalized()).cwiseAbs();
  EXPECT_GT(cosines.diagonal().minCoeff(), 0.99);
  options.fastica.start = A.leftCols(2);
  expect_error<UsageError>([&] { separate(mixture, options); }, {"init", "is 3 x 2", "channels x sources, 3 x 3"});
  options.fastica.start = A;
  options.fastica.start.col(1) = 2 * A.col(0);
  expect_error<Error>([&] { separate(mixture, options); }, {"init", "follow from each other"});
  options.fastica.start.col(1).setZero();
  expect_error<Error>([&] { separate(mixture, options); }, {"init", "follow from each other"});
}

TEST(Fastica, FewerSourcesThanChannels) {
  const Matrix sources = laplace(2, 2000, 1);
  Matrix A(4, 2);
  A << 1, 0.5, -0.3, 1, 0.7, 0.7, 0.2, -1;
  SeparateOptions options = by_fastica();
  options.learning.latents = 2;
  const Separation found = separate(A * sources, options);
  EXPECT_EQ(found.mixing.rows(), 4);
  for (const SourceMatch& match : match_sources(sources, found.sources)) EXPECT_GT(match.correlation, 0.99);
}

TEST(Fastica, ChannelsThatTellNothing) {
  const Matrix sources = laplace(2, 500, 1);
  Matrix mixture(3, 500);
  mixture.topRows(2) = mixing(2) * sources;
  mixture.row(2).setConstant(7);
  const Separation found = separate(mixture, by_fastica());
  EXPECT_EQ(found.sources.rows(), 2);
  ASSERT_FALSE(found.notes.empty());
  expect_says(found.notes[0], {"channel 3 is constant"});
  SeparateOptions options = by_fastica();
  options.learning.latents = 3;
  expect_error<Error>([&] { separate(mixture, options); },
                      {"latents is 3", "only 2 of the channels", "a constant one"});
  options.learning.latents = 4;
  expect_error<UsageError>([&] { separate(mixture, options); }, {"latents is 4", "3 channels", "at most as many"});
}

TEST(Fastica, SaysThatItHasNotConverged) {
  SeparateOptions options = by_fastica();
  options.fastica.iterations = 2;
  const Separation found = separate(mixing(3) * laplace(3, 500, 1), options);
  EXPECT_FALSE(found.fastica->converged);
  EXPECT_EQ(found.fastica->iterations, 2);
  EXPECT_GT(found.fastica->change, 1e-8);
  ASSERT_FALSE(found.notes.empty());
  expect_says(found.notes.back(), {"not converged in 2 iterations", "degrees", "try more iterations"});
}

TEST(Fastica, ImpossibleOptions) {
  const Matrix mixture = mixing(2) * laplace(2, 100, 1);
  SeparateOptions options = by_fastica();
  options.fastica.iterations = 0;
  expect_error<UsageError>([&] { separate(mixture, options); }, {"iterations is 0", "at least 1"});
  options = by_fastica();
  options.fastica.tolerance = 1;
  expect_error<UsageError>([&] { separate(mixture, options); }, {"tolerance is 1", "below 1"});
}

class Stopping final : public Watcher {
 public:
  bool stop_requested() override { return true; }
};

TEST(Fastica, StopsWhenAsked) {
  Stopping stop;
  const Separation found = separate(mixing(2) * laplace(2, 100, 1), by_fastica(), &stop);
  EXPECT_EQ(found.fit.reason, StopReason::interrupted);
}

TEST(FasticaStart, ModelHasTheVarianceOfTheSources) {
  Matrix sources = laplace(2, 1000, 1);
  sources.row(1) = sources.row(1).cwiseSign();
  const Model model = model_of_sources(mixing(2), sources);
  EXPECT_NO_THROW(model.validate());
  EXPECT_EQ(model.mu[0], 0);
  EXPECT_GT(model.mu[1], 0);
  for (Index h = 0; h < 2; ++h)
    EXPECT_NEAR(model.pi[h] * model.slab.variances()[h] + model.pi[h] * (1 - model.pi[h]) * model.mu[h] * model.mu[h],
                1, 1e-12);
}

TEST(FasticaStart, IsTheFirstOfTheStarts) {
  const Matrix A = mixing(4), mixture = A * laplace(4, 800, 2);
  SeparateOptions options;
  options.restarts = 3;
  options.learning.iterations = 30;
  options.learning.tolerance = 0;
  options.whiten = Whiten::on;
  options.start_from_fastica = false;
  const Separation random = separate(mixture, options);
  options.start_from_fastica = true;
  const Separation mixed = separate(mixture, options);
  ASSERT_TRUE(mixed.fastica);
  EXPECT_FALSE(random.fastica);
  EXPECT_NE(mixed.free_energies[0], random.free_energies[0]);
  EXPECT_EQ(mixed.free_energies[1], random.free_energies[1]);
  EXPECT_EQ(mixed.free_energies[2], random.free_energies[2]);
  // Row 0 of its history is already near: what 30 iterations from random numbers reach takes it few.
  options.restarts = 1;
  const Separation alone = separate(mixture, options);
  EXPECT_EQ(alone.free_energies[0], mixed.free_energies[0]);
  EXPECT_GT(alone.fit.state.history[5].free_energy, random.fit.state.history[5].free_energy);
  EXPECT_LT(amari_index(alone.mixing, A), 0.1);
}

TEST(FasticaStart, NotWhereMostIsNoise) {
  Random random(4);
  std::normal_distribution<double> normal;
  Matrix mixture = mixing(3) * laplace(3, 2000, 1);
  for (double& value : mixture.reshaped()) value += 4 * normal(random);
  SeparateOptions options;
  options.restarts = 2;
  options.learning.iterations = 100;
  const Separation found = separate(mixture, options);
  EXPECT_FALSE(found.whitened);
  EXPECT_FALSE(found.fastica);
  options.start_from_fastica = false;
  options.whiten = Whiten::off;
  EXPECT_EQ(separate(mixture, options).mixing, found.mixing);
}

TEST(FasticaStart, NotWithMoreSourcesThanChannels) {
  SeparateOptions options;
  options.restarts = 2;
  options.learning.iterations = 3;
  options.learning.latents = 3;
  options.start_from_fastica = true;
  const Separation found = separate(mixing(2) * laplace(2, 300, 2), options);
  EXPECT_FALSE(found.fastica);
  options.start_from_fastica = false;
  EXPECT_EQ(separate(mixing(2) * laplace(2, 300, 2), options).free_energies, found.free_energies);
}

TEST(Restarts, TheFirstMayHaveAModelToStartFrom) {
  const MatrixData data(Matrix((mixing(3) * laplace(3, 400, 1)).transpose()), "m");
  FitOptions options;
  options.latents = 3;
  options.init = Init::random;
  options.iterations = 5;
  options.inference.method = Method::exact;
  options.inference.threads = 1;
  const Model first = model_of_sources(mixing(3), laplace(3, 400, 1));
  const Restarts with = fit_restarts(data, options, 2, nullptr, first), without = fit_restarts(data, options, 2);
  EXPECT_EQ(with.free_energies[0], fit(data, options, nullptr, first).last().free_energy);
  EXPECT_EQ(with.free_energies[1], without.free_energies[1]);
}

}  // namespace
}  // namespace gsc::test
