// Variational Bayes for the Beta process: sweeps against their formulas, the bound against Monte Carlo by its
// definition, and that no coordinate step lowers it.

#include "beta_process/variational.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>
#include <numeric>

#include "factored/engine.h"
#include "math/digamma.h"
#include "random_model.h"

namespace gsc::test::variational {
namespace {

const BetaProcessPriors kPriors{
    .alpha = 0.6, .beta = 1.5, .slab_shape = 2, .slab_rate = 1.5, .noise_shape = 3, .noise_rate = 2};

std::vector<Index> in_order(Index latents) {
  std::vector<Index> order(static_cast<std::size_t>(latents));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

InferenceOptions factored() {
  InferenceOptions options;
  options.method = Method::factored;
  options.threads = 1;
  return options;
}

VariationalFactors some_factors(Index dimensions, Index latents, bool intercept, std::uint64_t seed) {
  Random random(seed);
  BetaProcessParameters theta;
  theta.W = 0.7 * normal_matrix(dimensions, latents, random);
  theta.logit_pi = normal_matrix(latents, 1, random);
  theta.slab_precision = 0.8;
  theta.noise_precision = 2;
  if (intercept) theta.intercept = 0.3 * normal_matrix(dimensions, 1, random);
  VariationalFactors q = factors_around(theta, 6);
  const Matrix root = 0.2 * normal_matrix(latents, latents, random);  // covariances too
  q.C += root * root.transpose();
  return q;
}

TEST(BetaProcessVariational, DigammaIsTheDerivativeOfLogGamma) {
  EXPECT_NEAR(digamma(1), -std::numbers::egamma, 1e-14);
  EXPECT_NEAR(digamma(0.5), -std::numbers::egamma - 2 * std::numbers::ln2, 1e-14);
  for (const double x : {1e-6, 0.01, 0.7, 3.0, 9.9, 10.1, 1e4}) {
    EXPECT_NEAR(digamma(x + 1) - digamma(x), 1 / x, 1e-13 * (1 + 1 / x)) << x;
    const double step = 1e-4 * x;
    EXPECT_NEAR(digamma(x), (std::lgamma(x + step) - std::lgamma(x - step)) / (2 * step),
                1e-7 * (1 + std::abs(digamma(x))))
        << x;
  }
}

/// q of the codes, as one sweep from zero makes it by the formulas.
struct Codes {
  Matrix gamma, nu, tau2;  ///< N x H
  Codes(const VariationalFactors& q, const Matrix& y) {
    const Index N = y.rows(), H = q.M.cols();
    gamma = nu = tau2 = Matrix::Zero(N, H);
    const Matrix B = q.M.transpose() * q.M + static_cast<double>(q.M.rows()) * q.C;
    for (Index n = 0; n < N; ++n) {
      Vector mean = Vector::Zero(H), from_zero = y.row(n).transpose();
      if (q.intercept.size() > 0) from_zero -= q.intercept;
      for (Index h = 0; h < H; ++h) {
        tau2(n, h) = 1 / (q.slab.mean() + q.noise.mean() * B(h, h));
        const double others = B.row(h).dot(mean) - B(h, h) * mean[h];
        nu(n, h) = tau2(n, h) * q.noise.mean() * (q.M.col(h).dot(from_zero) - others);
        const double logit = digamma(q.on[h]) - digamma(q.off[h]) + 0.5 * (q.slab.mean_log() + std::log(tau2(n, h))) +
                             0.5 * nu(n, h) * nu(n, h) / tau2(n, h);
        gamma(n, h) = 1 / (1 + std::exp(-logit));
        mean[h] = gamma(n, h) * nu(n, h);
      }
    }
  }
};

TEST(BetaProcessVariational, SweepFollowsTheFormulas) {
  const VariationalFactors q = some_factors(4, 3, true, 1);
  Random random(2);
  const Matrix y = normal_matrix(9, 4, random);
  const MatrixData data(y);
  Matrix next;
  const Statistics codes = FactoredEngine(data, factored()).sweep(as_model(q), codes_model(q, in_order(3)), {}, next);
  const Codes expected(q, y);
  const Matrix mean = expected.gamma.cwiseProduct(expected.nu);
  EXPECT_LT((next - mean.transpose()).norm(), 1e-12);
  EXPECT_LT((codes.s - expected.gamma.colwise().sum().transpose()).norm(), 1e-12);
  Matrix ZZ = mean.transpose() * mean;
  ZZ.diagonal() = expected.gamma.cwiseProduct(expected.nu.cwiseAbs2() + expected.tau2).colwise().sum();
  EXPECT_LT((codes.ZZ - ZZ).norm(), 1e-11);
}

double log_normal(double x, double precision) {
  return 0.5 * std::log(precision / (2 * std::numbers::pi)) - 0.5 * precision * x * x;
}
double log_gamma_density(double g, double shape, double rate) {
  return shape * std::log(rate) - std::lgamma(shape) + (shape - 1) * std::log(g) - rate * g;
}
double log_beta_density(double p, double a, double b) {
  return std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + (a - 1) * std::log(p) + (b - 1) * std::log1p(-p);
}

/// log p(y, everything) - log q(everything) for one draw from q.
double log_ratio(const VariationalFactors& q, const Codes& codes, const Matrix& y, Random& random) {
  std::normal_distribution<double> normal;
  const auto gamma = [&](double shape, double rate) {
    return std::gamma_distribution<double>(shape, 1 / rate)(random);
  };
  const Index D = q.M.rows(), H = q.M.cols(), N = y.rows();
  const double g_s = gamma(q.slab.shape, q.slab.rate), g_e = gamma(q.noise.shape, q.noise.rate);
  double sum = log_gamma_density(g_s, kPriors.slab_shape, kPriors.slab_rate) -
               log_gamma_density(g_s, q.slab.shape, q.slab.rate) +
               log_gamma_density(g_e, kPriors.noise_shape, kPriors.noise_rate) -
               log_gamma_density(g_e, q.noise.shape, q.noise.rate);
  const Eigen::LLT<Eigen::MatrixXd> factor(Eigen::MatrixXd(q.C));
  const double log_det = 2 * Eigen::MatrixXd(factor.matrixL()).diagonal().array().log().sum();
  Matrix W(D, H);
  for (Index d = 0; d < D; ++d) {
    Eigen::VectorXd white(H);
    for (double& value : white) value = normal(random);
    const Eigen::VectorXd moved = factor.matrixL() * white;
    W.row(d) = q.M.row(d) + moved.transpose();
    sum += 0.5 * (log_det + white.squaredNorm() + static_cast<double>(H) * std::log(2 * std::numbers::pi));
    for (Index h = 0; h < H; ++h) sum += log_normal(W(d, h), static_cast<double>(D));
  }
  Vector pi(H);
  for (Index h = 0; h < H; ++h) {
    const double on = gamma(q.on[h], 1), off = gamma(q.off[h], 1);
    pi[h] = on / (on + off);
    sum += log_beta_density(pi[h], kPriors.alpha, kPriors.beta) - log_beta_density(pi[h], q.on[h], q.off[h]);
  }
  for (Index n = 0; n < N; ++n) {
    Vector rest = y.row(n).transpose() - q.intercept;
    for (Index h = 0; h < H; ++h) {
      const double probability = codes.gamma(n, h);
      if (std::uniform_real_distribution<double>()(random) < probability) {
        const double white = normal(random), tau = std::sqrt(codes.tau2(n, h)), a = codes.nu(n, h) + tau * white;
        sum += std::log(pi[h] / probability) + log_normal(a, g_s) - log_normal(white, 1) + std::log(tau);
        rest -= a * W.col(h);
      } else {
        sum += std::log((1 - pi[h]) / (1 - probability));
      }
    }
    for (Index d = 0; d < D; ++d) sum += log_normal(rest[d], g_e);
  }
  return sum;
}

TEST(BetaProcessVariational, BoundIsTheMeanOfItsDefinition) {
  const VariationalFactors q = some_factors(2, 3, true, 5);
  Random random(6);
  const Matrix y = normal_matrix(4, 2, random);
  const MatrixData data(y);
  Matrix next;
  const Statistics sums = FactoredEngine(data, factored()).sweep(as_model(q), codes_model(q, in_order(3)), {}, next);
  const double value = bound(q, kPriors, sums, codes_entropy(q, sums));
  const Codes codes(q, y);
  constexpr int kDraws = 100000;
  double mean = 0, square = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double ratio = log_ratio(q, codes, y, random);
    mean += ratio / kDraws;
    square += ratio * ratio / kDraws;
  }
  const double error = std::sqrt((square - mean * mean) / kDraws);
  EXPECT_LT(error, 0.05);
  EXPECT_NEAR(value, mean, 4 * error);
}

TEST(BetaProcessVariational, NoStepLowersTheBound) {
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    Random random(seed);
    const bool intercept = seed != 2;
    const Matrix y = normal_matrix(60, 5, random) + 2 * normal_matrix(60, 2, random) * normal_matrix(2, 5, random);
    const MatrixData data(y);
    FactoredEngine engine(data, factored());
    VariationalFactors q = some_factors(5, 6, intercept, seed);
    Matrix means, next;
    double before = -1e300;
    const auto not_below = [&](double now, const char* step) {
      EXPECT_GE(now, before - 1e-9 * std::abs(now)) << step;
      before = now;
    };
    double first = 0, last = 0;
    for (int i = 0; i < 25; ++i) {
      std::vector<Index> order = in_order(6);
      std::shuffle(order.begin(), order.end(), random);
      Statistics codes = engine.sweep(as_model(q), codes_model(q, order), means, next);
      std::swap(means, next);
      const double entropy = codes_entropy(q, codes);
      const auto now = [&] { return bound(q, kPriors, codes, entropy); };
      not_below(last = now(), "codes");
      if (i == 0) first = last;
      update_basis(codes, q);
      not_below(now(), "basis");
      if (intercept) {
        update_intercept(codes, q);
        not_below(now(), "intercept");
      }
      update_pi(codes, kPriors, q);
      not_below(now(), "pi");
      update_slab(codes, kPriors, q);
      not_below(now(), "slab");
      update_noise(codes, kPriors, q);
      not_below(now(), "noise");
    }
    EXPECT_GT(last, first + 1);
  }
}

}  // namespace
}  // namespace gsc::test::variational
