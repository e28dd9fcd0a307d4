// The conditionals of the Beta process sampler, each against brute force, and what does not depend on threads and
// stops. The whole chain is in beta_process_geweke_test.cpp.

#include "beta_process/gibbs.h"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <cmath>
#include <numbers>

#include "random_model.h"

namespace gsc::test::gibbs {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

BetaProcessParameters random_parameters(Index dimensions, Index latents, std::uint64_t seed) {
  Random random(seed);
  BetaProcessParameters theta;
  theta.W = 0.8 * normal_matrix(dimensions, latents, random);
  theta.logit_pi = normal_matrix(latents, 1, random);
  theta.slab_precision = 0.7;
  theta.noise_precision = 3;
  return theta;
}

/// The posterior of a code by the sum over all 2^H states, from the entries of y that are not NaN.
struct ByStates {
  Vector probability, mean, square;  ///< P(a_h != 0), <a_h>, <a_h^2>
  double pair = 0;                   ///< <a_0 a_1>

  ByStates(const BetaProcessParameters& theta, const Vector& y) {
    const Index H = theta.W.cols();
    std::vector<Index> seen;
    for (Index d = 0; d < y.size(); ++d)
      if (!std::isnan(y[d])) seen.push_back(d);
    const Vector x = y(seen);
    probability = mean = square = Vector::Zero(H);
    double total = 0;
    for (unsigned state = 0; state < 1U << H; ++state) {
      std::vector<Index> on;
      double weight = 1;
      for (Index h = 0; h < H; ++h) {
        const double pi = 1 / (1 + std::exp(-theta.logit_pi[h]));
        if ((state >> h & 1U) != 0) on.push_back(h);
        weight *= (state >> h & 1U) != 0 ? pi : 1 - pi;
      }
      const Matrix W = theta.W(seen, on);
      const Index D = x.size(), K = W.cols();
      const Matrix covariance =
          W * W.transpose() / theta.slab_precision + Matrix::Identity(D, D) / theta.noise_precision;
      if (D > 0)
        weight *= std::exp(-0.5 * x.dot(covariance.inverse() * x)) /
                  std::sqrt(std::pow(2 * std::numbers::pi, D) * covariance.determinant());
      total += weight;
      const Matrix C =
          (theta.slab_precision * Matrix::Identity(K, K) + theta.noise_precision * W.transpose() * W).inverse();
      const Vector m = theta.noise_precision * (C * (W.transpose() * x));
      for (Index i = 0; i < K; ++i) {
        probability[on[static_cast<std::size_t>(i)]] += weight;
        mean[on[static_cast<std::size_t>(i)]] += weight * m[i];
        square[on[static_cast<std::size_t>(i)]] += weight * (m[i] * m[i] + C(i, i));
      }
      if (K > 1 && on[0] == 0 && on[1] == 1) pair += weight * (m[0] * m[1] + C(0, 1));
    }
    probability /= total;
    mean /= total;
    square /= total;
    pair /= total;
  }
};

/// Five standard errors of a mean over `count` draws with this second moment.
double allowed(double second_moment, Index count) { return 5 * std::sqrt(second_moment / static_cast<double>(count)); }

/// Many copies of one data point are so many chains; after enough sweeps their codes are draws from the posterior.
void expect_posterior(const BetaProcessParameters& theta, const Vector& y, bool missing, const std::string& what) {
  constexpr Index kCopies = 12000;
  const MatrixData data(y.transpose().replicate(kCopies, 1));
  GibbsSettings settings;
  settings.missing = missing;
  settings.seed = 5;
  GibbsChain chain(data, settings, theta);
  for (int sweep = 1; sweep <= 40; ++sweep) chain.draw_codes(sweep);
  const Matrix codes(chain.codes().together());
  const ByStates exact(theta, y);
  for (Index h = 0; h < theta.W.cols(); ++h) {
    const auto a = codes.row(h).array();
    const double fourth = a.square().square().mean();
    EXPECT_NEAR(static_cast<double>((a != 0).count()) / kCopies, exact.probability[h], allowed(0.25, kCopies)) << what;
    EXPECT_NEAR(a.mean(), exact.mean[h], allowed(exact.square[h], kCopies)) << what;
    EXPECT_NEAR(a.square().mean(), exact.square[h], allowed(fourth, kCopies)) << what;
  }
  const double product = codes.row(0).cwiseProduct(codes.row(1)).mean();
  EXPECT_NEAR(product, exact.pair, allowed(codes.row(0).cwiseProduct(codes.row(1)).squaredNorm() / kCopies, kCopies))
      << what;
}

TEST(BetaProcessGibbs, CodesAreThoseOfEnumeration) {
  for (const std::uint64_t seed : {1U, 2U}) {
    const BetaProcessParameters theta = random_parameters(4, 3, seed);
    Random random(seed + 10);
    Vector y = normal_matrix(4, 1, random);
    expect_posterior(theta, y, false, "complete");
    expect_posterior(theta, y, true, "complete, by the way of gaps");
    y[2] = kNaN;
    expect_posterior(theta, y, true, "one value missing");
    y.setConstant(kNaN);
    expect_posterior(theta, y, true, "all missing");
  }
}

TEST(BetaProcessGibbs, MomentsGivenTheSpikesAreThoseOfTheLinearSystem) {
  // With pi near 1 the only state is all on, whose posterior is Gaussian.
  BetaProcessParameters theta = random_parameters(5, 3, 4);
  theta.logit_pi.setConstant(40);
  const CodeModel model(theta.W, theta.logit_pi, Vector::Constant(3, theta.slab_precision), theta.noise_precision);
  CodeSampler sampler(model);
  Random random(4);
  for (int i = 0; i < 10; ++i) {
    Vector y = normal_matrix(5, 1, random), seen = Vector::Ones(5);
    const auto expect = [&](const double* observed, const ByStates& exact) {
      Vector code = Vector::Zero(3), correlations = theta.W.transpose() * y;
      CounterRandom numbers{1};
      sampler.sweep(correlations.data(), code.data(), numbers);
      ASSERT_EQ(sampler.on(), (std::vector<Index>{0, 1, 2}));
      sampler.forget_moments();
      const CodeSampler::Moments& moments = sampler.moments(y.data(), observed);
      EXPECT_LT((moments.mean - exact.mean).norm(), 1e-10);
      EXPECT_LT((moments.variance + moments.mean.cwiseAbs2() - exact.square).norm(), 1e-10);
    };
    expect(nullptr, ByStates(theta, y));
    seen[i % 5] = y[i % 5] = 0;
    Vector with_gap = y;
    with_gap[i % 5] = kNaN;
    expect(seen.data(), ByStates(theta, with_gap));
  }
}

/// A chain with some codes drawn, to draw other things given them.
struct Fixed {
  explicit Fixed(bool missing, bool learn_intercept = false) {
    Random random(3);
    Matrix y = normal_matrix(30, 3, random);
    if (missing)
      for (Index n = 0; n < 30; ++n) y(n, n % 3) = n % 2 == 0 ? kNaN : y(n, n % 3);
    data.emplace(y);
    settings.missing = missing;
    settings.learn_intercept = learn_intercept;
    settings.priors = {.alpha = 0.5, .beta = 2, .slab_shape = 2, .slab_rate = 3, .noise_shape = 4, .noise_rate = 2};
    theta = random_parameters(3, 2, 8);
    if (learn_intercept) theta.intercept = Vector::Constant(3, 0.3);
    chain.emplace(*data, settings, theta);
    chain->draw_codes(1);
    codes = Matrix(chain->codes().together());
  }
  std::optional<MatrixData> data;
  GibbsSettings settings;
  BetaProcessParameters theta;
  std::optional<GibbsChain> chain;
  Matrix codes;
};

/// Rows of W are independent, each with N(L^-1 g_e sum a y, L^-1) over the data points that have its entry.
void expect_basis(bool missing) {
  Fixed fixed(missing);
  constexpr int kDraws = 20000;
  Matrix sum = Matrix::Zero(3, 2), square = sum;
  Vector crossed = Vector::Zero(3);
  for (int i = 0; i < kDraws; ++i) {
    GibbsChain& chain = *fixed.chain;
    chain.draw_basis(i + 1);
    const Matrix& W = chain.parameters().W;
    sum += W;
    square += W.cwiseAbs2();
    crossed += W.col(0).cwiseProduct(W.col(1));
  }
  for (Index d = 0; d < 3; ++d) {
    Matrix L = 3 * Matrix::Identity(2, 2);
    Vector right = Vector::Zero(2);
    for (Index n = 0; n < 30; ++n) {
      const double y = fixed.data->values()(n, d);
      if (std::isnan(y)) continue;
      const Vector a = fixed.codes.col(n);
      L += fixed.theta.noise_precision * a * a.transpose();
      right += fixed.theta.noise_precision * y * a;
    }
    const Matrix C = L.inverse();
    const Vector m = C * right;
    for (Index h = 0; h < 2; ++h) {
      EXPECT_NEAR(sum(d, h) / kDraws, m[h], allowed(C(h, h), kDraws));
      EXPECT_NEAR(square(d, h) / kDraws - m[h] * m[h], C(h, h),
                  allowed(20 * C(h, h) * (C(h, h) + m[h] * m[h]), kDraws));
    }
    EXPECT_NEAR(crossed[d] / kDraws - m[0] * m[1], C(0, 1),
                allowed(20 * C(0, 0) * C(1, 1) + 4 * (C(0, 0) * m[1] * m[1] + C(1, 1) * m[0] * m[0]), kDraws));
  }
}

TEST(BetaProcessGibbs, BasisIsDrawnFromItsConditional) { expect_basis(false); }
TEST(BetaProcessGibbs, BasisIsDrawnFromItsConditionalWhereValuesAreMissing) { expect_basis(true); }

TEST(BetaProcessGibbs, InterceptIsDrawnFromItsConditional) {
  for (const bool missing : {false, true}) {
    Fixed fixed(missing, true);
    constexpr int kDraws = 4000;
    Vector sum = Vector::Zero(3), square = sum;  // of (b - its mean given W) sqrt(g_e N)
    for (int i = 0; i < kDraws; ++i) {
      GibbsChain& chain = *fixed.chain;
      chain.draw_basis(i + 1);
      for (Index d = 0; d < 3; ++d) {
        double count = 0, rest = 0;
        for (Index n = 0; n < 30; ++n) {
          const double y = fixed.data->values()(n, d);
          if (std::isnan(y)) continue;
          count += 1;
          rest += y - chain.parameters().W.row(d).dot(fixed.codes.col(n));
        }
        const double z =
            (chain.parameters().intercept[d] - rest / count) * std::sqrt(fixed.theta.noise_precision * count);
        sum[d] += z;
        square[d] += z * z;
      }
    }
    for (Index d = 0; d < 3; ++d) {
      EXPECT_NEAR(sum[d] / kDraws, 0, allowed(1, kDraws));
      EXPECT_NEAR(square[d] / kDraws, 1, allowed(2, kDraws));
    }
  }
}

/// sum |y - W a|^2 over what is observed.
double residual(const Fixed& fixed, const BetaProcessParameters& theta) {
  double sum = 0;
  for (Index n = 0; n < 30; ++n)
    for (Index d = 0; d < 3; ++d) {
      const double y = fixed.data->values()(n, d);
      if (!std::isnan(y)) sum += std::pow(y - theta.W.row(d).dot(fixed.codes.col(n)), 2);
    }
  return sum;
}

TEST(BetaProcessGibbs, ScalarsAreDrawnFromTheirConditionals) {
  for (const bool missing : {false, true}) {
    Fixed fixed(missing);
    GibbsChain& chain = *fixed.chain;
    chain.draw_basis(1);
    const double R = residual(fixed, chain.parameters()), values = missing ? 75 : 90;
    constexpr int kDraws = 20000;
    Vector pi = Vector::Zero(2), pi_square = pi;
    double g_s = 0, g_s_square = 0, g_e = 0, g_e_square = 0;
    for (int i = 0; i < kDraws; ++i) {
      chain.draw_scalars(i + 1);
      const Vector p = (1 / (1 + (-chain.parameters().logit_pi.array()).exp())).matrix();
      pi += p / kDraws;
      pi_square += p.cwiseAbs2() / kDraws;
      g_s += chain.parameters().slab_precision / kDraws;
      g_s_square += std::pow(chain.parameters().slab_precision, 2) / kDraws;
      g_e += chain.parameters().noise_precision / kDraws;
      g_e_square += std::pow(chain.parameters().noise_precision, 2) / kDraws;
    }
    for (Index h = 0; h < 2; ++h) {
      const double n = static_cast<double>((fixed.codes.row(h).array() != 0).count()), a = 0.5 + n, b = 2 + 30 - n;
      const double mean = a / (a + b), variance = a * b / ((a + b) * (a + b) * (a + b + 1));
      EXPECT_NEAR(pi[h], mean, allowed(variance, kDraws));
      EXPECT_NEAR(pi_square[h] - pi[h] * pi[h], variance, allowed(5 * variance * variance, kDraws));
    }
    const auto expect_gamma = [&](double shape, double rate, double mean, double square) {
      const double variance = shape / (rate * rate);
      EXPECT_NEAR(mean, shape / rate, allowed(variance, kDraws));
      EXPECT_NEAR(square - mean * mean, variance, allowed(5 * variance * variance, kDraws));
    };
    expect_gamma(2 + 0.5 * static_cast<double>((fixed.codes.array() != 0).count()), 3 + 0.5 * fixed.codes.squaredNorm(),
                 g_s, g_s_square);
    expect_gamma(4 + 0.5 * values, 2 + 0.5 * R, g_e, g_e_square);
  }
}

TEST(BetaProcessGibbs, TinyShapesOfTheBetaPriorStayFinite) {
  // Gamma(1/256) is below 1e-300 every few draws; its logarithm is not. P(log g < x) ~ e^(shape x) far below zero.
  CounterRandom random{1};
  int below = 0;
  for (int i = 0; i < 20000; ++i) {
    const double logit = random.logit_beta(1.0 / 256, 1);
    ASSERT_TRUE(std::isfinite(logit));
    below += logit < -256 ? 1 : 0;
  }
  EXPECT_NEAR(below / 20000.0, std::exp(-1.0), allowed(0.25, 20000));
}

TEST(BetaProcessGibbs, LogJointIsTheSumOfItsDensities) {
  Fixed fixed(false);
  GibbsChain& chain = *fixed.chain;
  chain.draw_basis(1);
  chain.draw_scalars(1);
  const BetaProcessParameters& theta = chain.parameters();
  const auto log_normal = [](double x, double precision) {
    return 0.5 * std::log(precision / (2 * std::numbers::pi)) - 0.5 * precision * x * x;
  };
  double sum = 0;
  for (Index n = 0; n < 30; ++n) {
    for (Index d = 0; d < 3; ++d)
      sum += log_normal(fixed.data->values()(n, d) - theta.W.row(d).dot(fixed.codes.col(n)), theta.noise_precision);
    for (Index h = 0; h < 2; ++h) {
      const double pi = 1 / (1 + std::exp(-theta.logit_pi[h])), a = fixed.codes(h, n);
      sum += a != 0 ? std::log(pi) + log_normal(a, theta.slab_precision) : std::log(1 - pi);
    }
  }
  for (Index h = 0; h < 2; ++h) {
    const double pi = 1 / (1 + std::exp(-theta.logit_pi[h]));
    // Beta(0.5, 2) has B = 4/3; d pi / d logit = pi (1 - pi).
    sum += std::log(std::pow(pi, -0.5) * (1 - pi) / (4.0 / 3) * pi * (1 - pi));
    for (Index d = 0; d < 3; ++d) sum += log_normal(theta.W(d, h), 3);
  }
  // Gamma(2, 3) and Gamma(4, 2); d g / d log g = g.
  const double g = theta.slab_precision, e = theta.noise_precision;
  sum += std::log(9 * g * std::exp(-3 * g) * g) + std::log(16.0 / 6 * e * e * e * std::exp(-2 * e) * e);
  EXPECT_NEAR(chain.log_joint(), sum, 1e-9 * std::abs(sum));
}

/// Sweeps on 2500 points, which are three chunks.
GibbsChain after(const MatrixData& data, bool missing, int threads, int sweeps) {
  GibbsSettings settings;
  settings.missing = missing;
  settings.threads = threads;
  settings.learn_intercept = true;
  BetaProcessParameters theta = random_parameters(7, 11, 2);
  theta.intercept = Vector::Zero(7);
  GibbsChain chain(data, settings, theta);
  for (int sweep = 1; sweep <= sweeps; ++sweep) chain.sweep(sweep);
  return chain;
}

void expect_same(const GibbsChain& one, const GibbsChain& other) {
  EXPECT_EQ(one.parameters().W, other.parameters().W);
  EXPECT_EQ(one.parameters().intercept, other.parameters().intercept);
  EXPECT_EQ(one.parameters().logit_pi, other.parameters().logit_pi);
  EXPECT_EQ(one.parameters().noise_precision, other.parameters().noise_precision);
  EXPECT_EQ(one.parameters().slab_precision, other.parameters().slab_precision);
  EXPECT_EQ(Matrix(one.codes().together()), Matrix(other.codes().together()));
}

MatrixData some_data(bool missing) {
  Random random(9);
  Matrix y = normal_matrix(2500, 7, random) + 0.5 * normal_matrix(2500, 3, random) * normal_matrix(3, 7, random);
  if (missing)
    for (Index n = 0; n < y.rows(); n += 3) y(n, n % 7) = kNaN;
  return MatrixData(y);
}

TEST(BetaProcessGibbs, AnyNumberOfThreadsGivesTheSameBits) {
  for (const bool missing : {false, true}) {
    const MatrixData data = some_data(missing);
    expect_same(after(data, missing, 1, 3), after(data, missing, 3, 3));
  }
}

TEST(BetaProcessGibbs, GoesOnWithTheSameBits) {
  for (const bool missing : {false, true}) {
    const MatrixData data = some_data(missing);
    const GibbsChain whole = after(data, missing, 2, 4), half = after(data, missing, 2, 2);
    GibbsChain other = after(data, missing, 2, 0);
    other.set(half.parameters());
    other.set(half.codes().together());
    other.sweep(3);
    other.sweep(4);
    expect_same(whole, other);
    EXPECT_EQ(whole.log_joint(), other.log_joint());
  }
}

TEST(BetaProcessGibbs, ChainsDiffer) {
  const MatrixData data = some_data(false);
  GibbsSettings settings;
  GibbsChain one(data, settings, random_parameters(7, 11, 2));
  settings.chain = 1;
  GibbsChain other(data, settings, random_parameters(7, 11, 2));
  one.sweep(1);
  other.sweep(1);
  EXPECT_NE(one.parameters().W, other.parameters().W);
}

}  // namespace
}  // namespace gsc::test::gibbs
