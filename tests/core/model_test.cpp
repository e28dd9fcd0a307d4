// Noise, Slab, Model, sampling, the generators and the data summary.

#include <gsc/generate.h>
#include <gsc/model.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "expect_error.h"
#include "random_model.h"

namespace gsc::test {
namespace {

const double kNaN = std::numeric_limits<double>::quiet_NaN();

double distance(const Matrix& a, const Matrix& b) { return (a - b).cwiseAbs().maxCoeff(); }

Matrix covariance_of(const Matrix& rows) {
  const Matrix centred = rows.rowwise() - rows.colwise().mean();
  return centred.transpose() * centred / static_cast<double>(rows.rows());
}

std::vector<Noise> every_noise() {
  std::vector<Noise> all;
  for (const ModelKnobs& knobs : every_type(5, 3)) {
    if (knobs.slab == SlabType::diagonal) all.push_back(random_model(knobs, 1).noise);
  }
  return all;
}

TEST(Noise, AnswersAsItsCovarianceDoes) {
  Random random(2);
  const Matrix rhs = normal_matrix(5, 4, random);
  for (const Noise& noise : every_noise()) {
    SCOPED_TRACE(to_string(noise.type()));
    const Matrix sigma = noise.covariance();
    ASSERT_EQ(sigma.rows(), 5);
    EXPECT_EQ(noise.dimensions(), 5);
    EXPECT_LT(distance(sigma * noise.solve(rhs), rhs), 1e-12);
    EXPECT_NEAR(noise.log_determinant(), std::log(sigma.determinant()), 1e-12);
    EXPECT_NEAR(noise.mean_variance(), sigma.trace() / 5, 1e-14);
    const Matrix factor = noise.color(Matrix::Identity(5, 5));
    EXPECT_LT(distance(factor * factor.transpose(), sigma), 1e-13);
    EXPECT_LT(distance(noise.color(rhs), factor * rhs), 1e-13);
  }
}

TEST(Noise, KeepsItsValuesInTheShapeOfItsType) {
  EXPECT_EQ(Noise::scalar(2, 5).values(), Matrix::Constant(1, 1, 2));
  EXPECT_EQ(Noise::scalar(2, 5).covariance(), Matrix(2 * Matrix::Identity(5, 5)));
  const Vector variances = Vector::LinSpaced(3, 1, 3);
  EXPECT_EQ(Noise::diagonal(variances).values(), Matrix(variances));
  EXPECT_EQ(Noise::diagonal(variances).covariance(), Matrix(variances.asDiagonal()));
  Matrix full(2, 2);
  full << 2, 0.5, 0.5, 1;
  EXPECT_EQ(Noise::full(full).values(), full);
  EXPECT_EQ(Noise::full(full).covariance(), full);
}

TEST(Noise, IsTheClosestOfItsTypeToACovariance) {
  Matrix full(2, 2);
  full << 2, 0.5, 0.5, 1;
  EXPECT_NEAR(Noise::from_covariance(NoiseType::scalar, full).values()(0, 0), 1.5, 1e-15);
  EXPECT_EQ(Noise::from_covariance(NoiseType::scalar, full).dimensions(), 2);
  EXPECT_EQ(Noise::from_covariance(NoiseType::diagonal, full).values(), Matrix(full.diagonal()));
  EXPECT_EQ(Noise::from_covariance(NoiseType::full, full).values(), full);
  const Matrix variances = full.diagonal();
  EXPECT_NEAR(Noise::from_covariance(NoiseType::scalar, variances).values()(0, 0), 1.5, 1e-15);
  EXPECT_EQ(Noise::from_covariance(NoiseType::diagonal, variances).values(), variances);
}

TEST(Slab, AnswersAsItsCovarianceDoes) {
  Random random(3);
  for (const ModelKnobs& knobs : every_type(2, 5)) {
    SCOPED_TRACE(describe(knobs));
    const Slab slab = random_model(knobs, 4).slab;
    const Matrix psi = slab.covariance();
    EXPECT_EQ(slab.latents(), 5);
    EXPECT_EQ(slab.values().cols(), knobs.slab == SlabType::full ? 5 : 1);
    EXPECT_LT(distance(slab.variances(), psi.diagonal()), 1e-15);
    const Matrix factor = slab.color(Matrix::Identity(5, 5));
    EXPECT_LT(distance(factor * factor.transpose(), psi), 1e-13);
    const Matrix white = normal_matrix(5, 3, random);
    EXPECT_LT(distance(slab.color(white), factor * white), 1e-13);
  }
}

TEST(Covariances, MustBeSymmetricPositiveDefinite) {
  Matrix indefinite(2, 2);
  indefinite << 1, 2, 2, 1;
  Matrix lopsided(2, 2);
  lopsided << 1, 0.5, 0.1, 1;
  Matrix broken = Matrix::Identity(2, 2);
  broken(1, 1) = kNaN;
  const auto refused = [](const Matrix& bad, Parts parts) {
    for (const std::string what : {"noise", "slab"}) {
      const std::string message = error_of([&] { what == "noise" ? void(Noise::full(bad)) : void(Slab::full(bad)); });
      expect_says(message, {what + " covariance"});
      expect_says(message, parts);
    }
  };
  refused(indefinite, {"(2 x 2) is not positive definite", "add a little to its diagonal"});
  refused(lopsided, {"(2 x 2) is not symmetric", "by up to 0.4", "mean of itself and its transpose"});
  refused(broken, {"holds NaN or infinity", "row 1, column 1"});
  refused(Matrix::Ones(2, 3), {"is 2 x 3", "must be square"});
}

TEST(Model, ValidationNamesTheParameter) {
  for (const ModelKnobs& knobs : every_type(4, 3)) EXPECT_NO_THROW(random_model(knobs, 5).validate());
  // Each change breaks one parameter of a good model.
  const auto refused = [](const std::function<void(Model&)>& change, Parts parts) {
    Model model = random_model({.dimensions = 4, .latents = 3}, 6);
    expect_error<Error>(
        [&] {
          change(model);
          model.validate();
        },
        parts);
  };
  refused([](Model& model) { model.W = Matrix(); }, {"model: W is 0 x 0", "at least one row"});
  refused([](Model& model) { model.W(1, 2) = kNaN; }, {"model: W is nan in row 1, column 2", "must be finite"});
  refused([](Model& model) { model.W_variance = Matrix::Ones(4, 2); }, {"model: W_variance is 4 x 2", "W is 4 x 3"});
  refused([](Model& model) { model.W_variance = -Matrix::Ones(4, 3); }, {"model: W_variance holds a negative number"});
  refused([](Model& model) { model.pi[1] = 1.5; }, {"model: pi of latent 1 is 1.5", "between 0 and 1"});
  refused([](Model& model) { model.pi[1] = -0.1; }, {"model: pi of latent 1 is -0.1", "between 0 and 1"});
  refused([](Model& model) { model.pi[2] = kNaN; }, {"model: pi of latent 2 is nan", "between 0 and 1"});
  refused([](Model& model) { model.pi.conservativeResize(2); }, {"model: pi has 2 entries for 3 latents"});
  refused([](Model& model) { model.mu[0] = kNaN; }, {"model: mu of latent 0 is nan", "must be finite"});
  refused([](Model& model) { model.mu = Vector::Zero(4); }, {"model: mu has 4 entries for 3 latents"});
  refused([](Model& model) { model.slab = Slab::diagonal(Vector::Ones(4)); }, {"slab is for 4 latents, W for 3"});
  refused([](Model& model) { model.slab = Slab::diagonal(-Vector::Ones(3)); }, {"slab variance 0 is -1", "positive"});
  refused([](Model& model) { model.noise = Noise::scalar(1, 5); }, {"noise is for 5 dimensions, W for 4"});
  refused([](Model& model) { model.noise = Noise::scalar(0, 4); }, {"noise variance 0 is 0", "must be positive"});
  refused([](Model& model) { model.noise = Noise::diagonal(-Vector::Ones(4)); }, {"noise variance 0 is -1"});
}

TEST(Sample, HasTheMomentsOfTheModel) {
  const Index N = 200000;
  const double error = 5 / std::sqrt(static_cast<double>(N));  // five standard errors of a unit variable's mean
  for (const ModelKnobs& knobs : every_type(4, 3)) {
    SCOPED_TRACE(describe(knobs));
    const Model model = random_model(knobs, 7);
    Random random(8);
    const Sample drawn = sample(model, N, random);
    ASSERT_EQ(drawn.data.rows(), N);

    // s.z: mean pi mu; covariance pi_h pi_k Psi_hk off the diagonal, pi (psi + mu^2) - pi^2 mu^2 on it.
    const Matrix psi = model.slab.covariance();
    const Vector mean = model.pi.cwiseProduct(model.mu);
    Matrix covariance = model.pi.asDiagonal() * psi * model.pi.asDiagonal();
    covariance.diagonal() = model.pi.cwiseProduct(Vector(psi.diagonal()) + model.mu.cwiseAbs2()) - mean.cwiseAbs2();
    const Matrix expected = model.noise.covariance() + model.W * covariance * model.W.transpose();
    const double spread = expected.diagonal().maxCoeff();
    Vector centre = model.W * mean;
    if (model.intercept.size() > 0) centre += model.intercept;
    EXPECT_LT(distance(drawn.data.colwise().mean().transpose(), centre), error * std::sqrt(spread));
    EXPECT_LT(distance(covariance_of(drawn.data), expected), 3 * error * spread);

    EXPECT_TRUE(((drawn.spikes.array() == 0) || (drawn.spikes.array() == 1)).all());
    EXPECT_LT(distance(drawn.spikes.colwise().mean().transpose(), model.pi), error);
    EXPECT_LT(distance(drawn.slabs.colwise().mean().transpose(), model.mu), error * std::sqrt(psi.maxCoeff()));
    EXPECT_LT(distance(covariance_of(drawn.slabs), psi), 2 * error * psi.maxCoeff());
    const Matrix noise = drawn.data - drawn.spikes.cwiseProduct(drawn.slabs) * model.W.transpose();
    EXPECT_LT(distance(covariance_of(noise), model.noise.covariance()), 2 * error * noise.cwiseAbs2().mean());

    Random same(8);
    EXPECT_EQ(sample(model, 10, same).data, sample(model, 10, random = Random(8)).data);
  }
}

TEST(InitialModel, IsAValidStart) {
  for (const ModelKnobs& knobs : every_type(4, 40)) {
    for (Init init : {Init::random, Init::data}) {
      SCOPED_TRACE(describe(knobs) + (init == Init::random ? ", random" : ", data"));
      const MatrixData data(random_data(random_model(knobs, 9), 300, 10, 20));
      const DataSummary summary = summarize(data, true);
      Random random(11);
      const Model model = initial_model(data, summary, 40, knobs.noise, knobs.slab, init, random);
      EXPECT_NO_THROW(model.validate());
      EXPECT_EQ(model.latents(), 40);
      EXPECT_EQ(model.noise.type(), knobs.noise);
      EXPECT_EQ(model.slab.type(), knobs.slab);
      const Noise of_data = Noise::from_covariance(knobs.noise, summary.covariance);
      EXPECT_LT(distance(model.noise.covariance(), of_data.covariance()), 2e-6 * summary.covariance.maxCoeff());
      const double W_size = std::sqrt(model.W.cwiseAbs2().mean());
      if (init == Init::random) {
        EXPECT_NEAR(W_size, 1, 0.25);
        EXPECT_GE(model.pi.minCoeff(), 0.05);
        EXPECT_LE(model.pi.maxCoeff(), 0.95);
        EXPECT_GT(model.slab.variances().minCoeff(), 0);
        EXPECT_LE(model.slab.variances().maxCoeff(), 1);
      } else {
        EXPECT_GT(W_size, 5) << "columns are data points";
        EXPECT_EQ(model.mu, Vector(Vector::Zero(40)));
        EXPECT_EQ(model.slab.covariance(), Matrix(model.slab.variances().asDiagonal()));
        EXPECT_GE(model.pi.minCoeff(), 0.1);
        EXPECT_LE(model.pi.maxCoeff(), 0.5);
      }
    }
  }
}

TEST(Bars, AreTheRowsAndColumnsOfAGrid) {
  for (Index latents : {2, 10, 12}) {
    Random random(12);
    const Index side = latents / 2;
    const Model model = bars_model(latents, random);
    EXPECT_NO_THROW(model.validate());
    ASSERT_EQ(model.dimensions(), side * side);
    ASSERT_EQ(model.latents(), latents);
    EXPECT_EQ(model.pi, Vector(Vector::Constant(latents, latents == 2 ? 0.5 : 2.0 / static_cast<double>(latents))));
    EXPECT_EQ(model.slab.variances(), Vector(Vector::Ones(latents)));
    EXPECT_EQ(model.noise.covariance(), Matrix(2 * Matrix::Identity(side * side, side * side)));
    std::vector<std::string> seen;
    for (Index h = 0; h < latents; ++h) {
      const Vector bar = model.W.col(h);
      EXPECT_NEAR(bar.norm(), 10 * std::sqrt(static_cast<double>(side)), 1e-12);
      EXPECT_EQ(bar.cwiseAbs().maxCoeff(), 10);
      EXPECT_EQ(std::abs(bar.sum()), 10 * static_cast<double>(side)) << "one sign per bar";
      // The lit pixels share a row or a column of the grid.
      Index first = -1;
      bool row = true;
      bool column = true;
      std::string where;
      for (Index d = 0; d < side * side; ++d) {
        if (bar[d] == 0) continue;
        if (first < 0) first = d;
        row = row && d / side == first / side;
        column = column && d % side == first % side;
        where += std::to_string(d) + ' ';
      }
      EXPECT_TRUE(row || column);
      if (side > 1) {
        EXPECT_EQ(std::count(seen.begin(), seen.end(), where), 0) << "every bar once";
      }
      seen.push_back(where);
    }
  }
  // mu ~ N(0, 5) and signs at random, over many draws.
  Random random(13);
  double square = 0;
  double positive = 0;
  const int draws = 2000;
  for (int i = 0; i < draws; ++i) {
    const Model model = bars_model(10, random);
    square += model.mu.squaredNorm() / 10 / draws;
    positive += static_cast<double>((model.W.colwise().sum().array() > 0).count()) / 10 / draws;
  }
  EXPECT_NEAR(square, 5, 0.3);
  EXPECT_NEAR(positive, 0.5, 0.02);
}

TEST(MixingMatrix, IsOrthogonalPlusNoise) {
  Random random(14);
  for (Index size : {1, 2, 7, 30}) {
    const Matrix W = mixing_matrix(size, 0, random);
    EXPECT_LT(distance(W * W.transpose(), Matrix::Identity(size, size)), 1e-13);
  }
  EXPECT_GT(distance(mixing_matrix(7, 0, random), mixing_matrix(7, 0, random)), 1e-3) << "another each time";
  const Matrix perturbed = mixing_matrix(60, 0.5, random);
  EXPECT_NEAR(perturbed.squaredNorm(), 60 + 60 * 60 * 0.25, 100);
}

TEST(Superposition, HasUnitScaleCoefficients) {
  Random random(15);
  const Index N = 100000;
  const Matrix laplace = superposition(Matrix::Identity(3, 3), Coefficients::laplace, 0, N, random);
  ASSERT_EQ(laplace.rows(), N);
  EXPECT_NEAR(laplace.cwiseAbs().mean(), 1, 0.01);
  EXPECT_NEAR(laplace.cwiseAbs2().mean(), 2, 0.05);
  EXPECT_NEAR(laplace.mean(), 0, 0.02);
  const Matrix cauchy = superposition(Matrix::Identity(3, 3), Coefficients::cauchy, 0, N, random);
  EXPECT_NEAR(static_cast<double>((cauchy.array().abs() < 1).count()) / static_cast<double>(3 * N), 0.5, 0.01);
  EXPECT_NEAR(static_cast<double>((cauchy.array() < -1).count()) / static_cast<double>(3 * N), 0.25, 0.01);
  const Matrix noise = superposition(Matrix::Zero(3, 2), Coefficients::laplace, 0.5, N, random);
  EXPECT_NEAR(noise.cwiseAbs2().mean(), 0.25, 0.01);
  Matrix W(2, 1);
  W << 1, -2;
  const Matrix line = superposition(W, Coefficients::laplace, 0, 10, random);
  EXPECT_LT(distance(line.col(1), -2 * line.col(0)), 1e-12);
}

TEST(Summary, IsMeanAndCovariance) {
  Random random(16);
  const Index N = 4999;  // several blocks, the last one not full
  Matrix data = normal_matrix(N, 3, random) * normal_matrix(3, 3, random);
  data.rowwise() += Eigen::RowVector3d(1e3, -5, 0);
  const DataSummary full = summarize(MatrixData(data), true);
  const DataSummary plain = summarize(MatrixData(data));
  const Matrix expected = covariance_of(data);
  EXPECT_EQ(full.count, 4999);
  EXPECT_LT(distance(full.mean, data.colwise().mean().transpose()), 1e-10);
  EXPECT_LT(distance(full.covariance, expected), 1e-9 * expected.cwiseAbs().maxCoeff());  // N - 1 for N: 2e-4
  ASSERT_EQ(plain.covariance.cols(), 1);
  EXPECT_LT(distance(plain.covariance, full.covariance.diagonal()), 1e-9 * expected.maxCoeff());
}

TEST(Summary, SaysWhatIsWrong) {
  const auto refused = [](const Matrix& data, Parts parts) {
    expect_error<Error>([&] { summarize(MatrixData(data, "points.npy")); }, parts);
  };
  Random random(17);
  for (const auto& [bad, text] : {std::pair{kNaN, "NaN"}, {std::numeric_limits<double>::infinity(), "infinite"}}) {
    Matrix data = normal_matrix(7000, 9, random);
    data(5320, 6) = bad;
    refused(data, {"points.npy: row 5320, column 6 (from 0) is ", text, "remove or replace"});
  }
  refused(Matrix(0, 3), {"points.npy: the data is empty (0 rows, 3 columns)", "one row per data point"});
  refused(Matrix(3, 0), {"points.npy: the data is empty (3 rows, 0 columns)", "one row per data point"});
  refused(Matrix::Random(1, 3), {"points.npy: only one row of 3 columns", "is the table transposed?"});
  refused(Matrix::Constant(50, 3, 7.1), {"points.npy: all rows are equal", "is it the right table?"});
  EXPECT_NO_THROW(summarize(MatrixData(Matrix::Random(2, 1))));
}

}  // namespace
}  // namespace gsc::test
