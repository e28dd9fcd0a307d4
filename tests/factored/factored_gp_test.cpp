// The Gaussian-process prior on the basis: its posterior and divergence, and that it does what it is for.

#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>

#include "factored_check.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::FactoredOracle;
using oracle::FactoredSweep;
using oracle::fixed_order;
using oracle::Real;

/// Of the identity beside the smooth part, as the gp prior has it.
constexpr Real kNugget = 1e-3L;

/// exp(-|a - b|^2 / (2 length^2)) between pixels of a grid, plus the nugget on the diagonal. Values of different
/// channels are independent; the channels of a pixel lie together, the pixels row by row.
oracle::Matrix kernel(const Shape& shape, double length) {
  const Index size = shape.rows * shape.cols * shape.channels;
  oracle::Matrix K = oracle::Matrix::Zero(size, size);
  for (Index a = 0; a < size; ++a) {
    for (Index b = 0; b < size; ++b) {
      if (a % shape.channels != b % shape.channels) continue;
      const Index pixel_a = a / shape.channels;
      const Index pixel_b = b / shape.channels;
      const Index down = pixel_a / shape.cols - pixel_b / shape.cols;
      const Index across = pixel_a % shape.cols - pixel_b % shape.cols;
      const Real square = static_cast<Real>(down * down + across * across);
      K(a, b) = std::exp(-square / (2 * static_cast<Real>(length) * length));
    }
  }
  K.diagonal().array() += kNugget;
  return K;
}

oracle::Matrix inverse(const oracle::Matrix& positive_definite) {
  return positive_definite.llt().solve(oracle::Matrix::Identity(positive_definite.rows(), positive_definite.cols()));
}

Real log_determinant(const oracle::Matrix& positive_definite) {
  return 2 * oracle::Matrix(positive_definite.llt().matrixL()).diagonal().array().log().sum();
}

TEST(FactoredGp, PosteriorAndDivergenceAreThoseOfTheKernel) {
  const Shape square{3, 3, 1};
  const Shape series{1, 7, 1};
  const Shape coloured{2, 3, 2};
  struct Case {
    Index dimensions;
    Shape given, meant;
  };
  for (const Case& shape :
       {Case{9, {}, square}, {7, {}, series}, {12, {2, 3, 2}, coloured}, {7, {7, 1, 1}, {7, 1, 1}}}) {
    for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal}) {
      SCOPED_TRACE(::testing::Message() << "D=" << shape.dimensions << ' ' << to_string(noise) << " noise");
      const Index H = 3;
      const double length = 0.8;
      const Matrix data = random_data(random_model({.dimensions = shape.dimensions, .latents = H}, 91), 70, 92);
      FitOptions options = fit_options({BasisPrior::gp, length, true, noise, SweepOrder::fixed}, H, 3);
      options.shape = shape.given;
      options.intercept = Intercept::none;
      Recorder recorder;
      fit(MatrixData(data), options, &recorder);
      ASSERT_EQ(recorder.states.size(), 4U);
      const oracle::Matrix K = kernel(shape.meant, length);
      const oracle::Matrix K_inverse = inverse(K);
      for (std::size_t t = 1; t < recorder.states.size(); ++t) {
        const FitState& before = recorder.states[t - 1];
        const FitState& after = recorder.states[t];
        const FactoredOracle oracle(before.model);
        const FactoredSweep sweep = oracle::sweep(oracle, data, before.method.column("codes"), fixed_order(H));
        Real divergence = 0;
        for (Index h = 0; h < H; ++h) {
          // V = (K^-1 + sum_n <(s.z)^2> Sigma^-1)^-1, with the noise of the row before: it is learned after W.
          oracle::Matrix precision = K_inverse;
          precision.diagonal().array() += sweep.sums.ZZ(h, h) / oracle.parameters().noise.array();
          const oracle::Matrix V = inverse(precision);
          const oracle::Vector m = after.model.W.col(h).cast<Real>();
          const oracle::Vector diagonal = V.diagonal();
          EXPECT_LT((after.model.W_variance.col(h).cast<Real>() - diagonal).cwiseAbs().maxCoeff(),
                    1e-9L * diagonal.maxCoeff())
              << "iteration " << t << ", latent " << h;
          divergence += ((K_inverse * V).trace() + m.dot(K_inverse * m) - static_cast<Real>(shape.dimensions) +
                         log_determinant(K) - log_determinant(V)) /
                        2;
        }
        EXPECT_NEAR(after.method.number("basis_divergence", 0) / static_cast<double>(divergence), 1, 1e-9)
            << "iteration " << t;
      }
    }
  }
}

/// Bases drawn from the Gaussian process, of unit variance.
Model smooth_model(const Shape& shape, double length, Index latents, double noise_std, std::uint64_t seed) {
  Random random(seed);
  const oracle::Matrix K = kernel(shape, length);
  const Matrix factor = oracle::Matrix(K.llt().matrixL()).cast<double>();
  Model model;
  model.W = factor * normal_matrix(K.rows(), latents, random);
  model.pi = Vector::Constant(latents, 0.3);
  model.mu = Vector::Zero(latents);
  model.slab = Slab::diagonal(Vector::Ones(latents));
  model.noise = Noise::scalar(noise_std * noise_std, K.rows());
  return model;
}

/// Mean squared difference of neighbours in time, relative to the mean square.
double roughness(const Matrix& W) {
  const Index D = W.rows();
  return (W.bottomRows(D - 1) - W.topRows(D - 1)).squaredNorm() / W.squaredNorm();
}

TEST(FactoredGp, SmoothsTheBasis) {
  const Index H = 3;
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Model truth = smooth_model({1, 30, 1}, 4, H, 2, seed);
    const MatrixData data(random_data(truth, 60, seed + 10));
    const FitResult rough = fit(data, fit_options({.prior = BasisPrior::identity}, H, 60), nullptr, truth);
    const FitResult smooth =
        fit(data, fit_options({.prior = BasisPrior::gp, .length_scale = 4}, H, 60), nullptr, truth);
    EXPECT_LT(roughness(smooth.model().W), 0.5 * roughness(rough.model().W));
    EXPECT_GT(smooth.model().W.squaredNorm(), 1) << "smooth because it is there, not because it vanished";
  }
}

TEST(FactoredGp, LearnsTheLengthScale) {
  const Index H = 4;
  struct Case {
    Shape shape;
    double length;
  };
  std::uint64_t seed = 20;
  for (const Case& grid :
       {Case{{1, 40, 1}, 1.5}, {{1, 40, 1}, 5}, {{8, 8, 1}, 1}, {{8, 8, 1}, 2.5}, {{5, 6, 3}, 1.5}}) {
    ++seed;
    SCOPED_TRACE(::testing::Message() << grid.shape.rows << " x " << grid.shape.cols << " x " << grid.shape.channels
                                      << ", length scale " << grid.length);
    const Matrix data = random_data(smooth_model(grid.shape, grid.length, H, 0.3, seed), 300, seed);
    FitOptions options = fit_options({.prior = BasisPrior::gp}, H, 80);
    options.shape = grid.shape;
    const double learned = fit(MatrixData(data), options).state.method.number("length_scale", 0);
    EXPECT_GT(learned, grid.length / 2);
    EXPECT_LT(learned, grid.length * 2);
  }
}

}  // namespace
}  // namespace gsc::test
