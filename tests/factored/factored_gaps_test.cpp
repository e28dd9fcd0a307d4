// The factored method with missing values, against the oracle that leaves them out of its sums.

#include <gsc/missing.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>
#include <limits>

#include "expect_error.h"
#include "factored/basis_prior.h"
#include "factored/engine.h"
#include "factored/m_step.h"
#include "factored_check.h"
#include "inference/statistics_shapes.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::FactoredOracle;
using oracle::FactoredParameters;
using oracle::FactoredSweep;
using oracle::fixed_order;
using oracle::Real;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

/// This part of the values missing; every fifth data point complete, the third without any value.
Matrix with_holes(Matrix data, double part, std::uint64_t seed) {
  Random random(seed);
  std::uniform_real_distribution<double> uniform;
  for (Index n = 0; n < data.rows(); ++n)
    for (double& value : data.row(n))
      if (n % 5 != 3 && uniform(random) < part) value = kNan;
  data.row(2).setConstant(kNan);
  return data;
}

InferenceOptions factored_with_gaps(int threads = 1) {
  InferenceOptions options = factored(threads);
  options.missing = Missing::nan;
  return options;
}

struct GapCase {
  Model model;
  Matrix data, codes;
};

GapCase random_case(std::uint64_t seed, bool uncertain, Index points = 70) {
  ModelKnobs knobs;
  knobs.dimensions = static_cast<Index>(3 + seed % 7);
  knobs.latents = static_cast<Index>(2 + seed % 19);
  knobs.noise = seed % 2 == 0 ? NoiseType::scalar : NoiseType::diagonal;
  knobs.intercept = seed % 3 == 0;
  GapCase made;
  made.model = random_model(knobs, seed);
  if (uncertain) made.model = with_uncertain_basis(made.model, seed + 1);
  made.data = with_holes(random_data(made.model, points, seed + 2), seed % 4 < 2 ? 0.3 : 0.8, seed + 3);
  Random random(seed + 4);
  if (seed % 2 == 1) made.codes = normal_matrix(knobs.latents, points, random);
  return made;
}

/// The sums over the data points that miss an entry, from the posteriors of the oracle.
double missing_sums_error(const GapCase& of, const FactoredSweep& expected, const Statistics& got) {
  const Index D = of.model.dimensions(), H = of.model.latents();
  oracle::Vector counts = oracle::Vector::Zero(D);
  oracle::Matrix m = oracle::Matrix::Zero(D, H), ZZ = oracle::Matrix::Zero(H * (H + 1) / 2, D);
  for (Index n = 0; n < of.data.rows(); ++n) {
    const oracle::FactoredPosterior& q = expected.points[static_cast<std::size_t>(n)];
    for (Index d = 0; d < D; ++d) {
      if (!std::isnan(of.data(n, d))) continue;
      counts[d] += 1;
      m.row(d) += q.mean().transpose();
      Index pair = 0;
      for (Index i = 0; i < H; ++i)
        for (Index j = i; j < H; ++j) ZZ(pair++, d) += i == j ? q.square()[i] : q.mean()[i] * q.mean()[j];
    }
  }
  const auto off = [](const oracle::Matrix& a, const Matrix& b) {
    if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
    return static_cast<double>((b.cast<Real>() - a).cwiseAbs().maxCoeff() / (1 + a.cwiseAbs().maxCoeff()));
  };
  return std::max({off(counts, got.missing), off(m, got.missing_m), off(ZZ, got.missing_ZZ)});
}

TEST(FactoredGaps, SweepsEqualTheOracle) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const GapCase of = random_case(seed, seed % 3 != 1);
    Random random(seed);
    const std::vector<Index> order = random_order(of.model.latents(), random);
    const FactoredOracle oracle(of.model);
    const FactoredSweep expected = oracle::sweep(oracle, of.data, of.codes, order);
    for (const int threads : {1, 3}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", " << threads << " threads");
      Matrix next;
      const Statistics got =
          factored_step(of.model, MatrixData(of.data), factored_with_gaps(threads), order, of.codes, next);
      EXPECT_LT(code_error(expected, next), 1e-10);
      EXPECT_LT(statistics_error(expected.sums, energy_scale(oracle, of.data, expected), got), 1e-10);
      EXPECT_LT(missing_sums_error(of, expected, got), 1e-10);
    }
  }
}

/// infer() and e_step(): where sweeps end, with the bound for a log-likelihood; the prior where nothing was observed.
TEST(FactoredGaps, PosteriorsAreWhereSweepsEnd) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    const GapCase of = random_case(seed, seed % 2 == 0);
    const MatrixData data(of.data);
    const Posterior got = infer(of.model, data, factored_with_gaps(2), {.variance = true});
    const FactoredOracle oracle(of.model);
    FactoredSweep last = oracle::sweep(oracle, of.data, Matrix(), fixed_order(of.model.latents()));
    for (int i = 0; i < 600; ++i)
      last = oracle::sweep(oracle, of.data, last.means.transpose().cast<double>(), fixed_order(of.model.latents()));
    for (Index n = 0; n < of.data.rows(); ++n) {
      const oracle::FactoredPosterior& q = last.points[static_cast<std::size_t>(n)];
      EXPECT_NEAR(got.log_likelihood[n], static_cast<double>(oracle.bound(oracle::point(of.data, n), q)), 1e-6) << n;
      const oracle::Vector variance = q.square() - q.mean().cwiseAbs2();
      for (Index h = 0; h < of.model.latents(); ++h) {
        const double unit = std::sqrt(static_cast<double>(q.square()[h])) + 1e-6;
        EXPECT_NEAR(got.mean(n, h) / unit, static_cast<double>(q.mean()[h]) / unit, 1e-4);
        EXPECT_NEAR(got.variance(n, h) / unit / unit, static_cast<double>(variance[h]) / unit / unit, 1e-3);
      }
    }
    EXPECT_NEAR(got.log_likelihood[2], 0, 1e-12);
    EXPECT_LT((got.probability.row(2).transpose() - of.model.pi).cwiseAbs().maxCoeff(), 1e-12);
    const Statistics sums = e_step(of.model, data, factored_with_gaps());
    EXPECT_NEAR(sums.free_energy, got.log_likelihood.sum(), 1e-7 * std::abs(sums.free_energy) + 1e-7);
  }
}

/// b + W <s.z>, and the variance of w'(s.z) with independent latents and W, by its definition.
TEST(FactoredGaps, ImputedValuesFollowFromThePosterior) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const GapCase of = random_case(seed, seed % 2 == 0);
    const MatrixData data(of.data);
    const Posterior posterior = infer(of.model, data, factored_with_gaps(), {.variance = true});
    const FactoredParameters theta(of.model);
    for (const bool denoise : {false, true}) {
      const Imputed got = impute(of.model, data, factored(), {.denoise_observed = denoise, .calibrate = false});
      for (Index n = 0; n < of.data.rows(); ++n)
        for (Index d = 0; d < of.data.cols(); ++d) {
          const bool missing = std::isnan(of.data(n, d));
          if (!missing && !denoise) {
            EXPECT_EQ(got.mean(n, d), of.data(n, d));
            EXPECT_EQ(got.std(n, d), 0);
            continue;
          }
          Real mean = theta.b[d], variance = missing ? theta.noise[d] : 0;
          for (Index h = 0; h < of.model.latents(); ++h) {
            const Real x = posterior.mean(n, h), second = posterior.variance(n, h) + x * x, w = theta.W(d, h);
            mean += w * x;
            variance += (w * w + theta.V(d, h)) * second - w * w * x * x;
          }
          EXPECT_NEAR(got.mean(n, d), static_cast<double>(mean), 1e-10);
          EXPECT_NEAR(got.std(n, d), static_cast<double>(std::sqrt(variance)), 1e-9);
        }
      const Imputed part = impute(of.model, data, factored(), {.denoise_observed = denoise, .calibrate = false}, 10, 7);
      EXPECT_LT((part.mean - got.mean.middleRows(10, 7)).cwiseAbs().maxCoeff(), 1e-5);
    }
  }
}

TEST(FactoredGaps, WhatIsUnderAMaskCannotMatter) {
  const GapCase of = random_case(9, true, 300);
  const Matrix mask = of.data.array().isNaN().cast<double>();
  const auto learned = [&](double under) {
    const MatrixData values((mask.array() != 0).select(under, of.data)), gaps(mask);
    FitOptions options = fit_options({}, 5, 6);
    options.inference = factored_with_gaps();
    return fit(MaskedData(values, gaps), options);
  };
  const FitResult first = learned(kNan);
  for (const double under : {1e300, -3.0, 0.0}) {
    const FitResult again = learned(under);
    EXPECT_EQ(again.model(), first.model()) << under;
    EXPECT_EQ(again.last().free_energy, first.last().free_energy) << under;
  }
}

/// A mask without gaps in it, or gaps that are allowed but not there: the bits of complete data.
TEST(FactoredGaps, CompleteDataKeepsItsBits) {
  const Matrix complete = random_data(random_model({.dimensions = 6, .latents = 4}, 5), 500, 6);
  const MatrixData data(complete), none(Matrix::Zero(500, 6));
  for (const BasisPrior prior : {BasisPrior::none, BasisPrior::identity, BasisPrior::gp}) {
    FitOptions options = fit_options({.prior = prior}, 4, 8);
    const FitResult without = fit(data, options);
    options.inference.missing = Missing::nan;
    EXPECT_EQ(fit(data, options).model(), without.model());
    EXPECT_EQ(fit(MaskedData(data, none), options).model(), without.model());
  }
}

/// One value missing of much data changes little: both ways through the code agree.
TEST(FactoredGaps, OneGapIsNearlyNone) {
  const Matrix complete = random_data(random_model({.dimensions = 6, .latents = 4}, 15), 4000, 16);
  Matrix one = complete;
  one(7, 3) = kNan;
  for (const BasisPrior prior : {BasisPrior::none, BasisPrior::identity, BasisPrior::gp}) {
    FitOptions options = fit_options({.prior = prior}, 4, 5);
    options.inference = factored_with_gaps();
    const Model with = fit(MatrixData(one), options).model(), without = fit(MatrixData(complete), options).model();
    EXPECT_LT((with.W - without.W).norm(), 0.02 * without.W.norm()) << to_string(prior);
    EXPECT_GT((with.W - without.W).norm(), 0) << to_string(prior);
  }
}

class FactoredGapLearning : public ::testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(Settings, FactoredGapLearning, ::testing::ValuesIn([] {
                           std::vector<Setting> all = every_setting();
                           std::erase_if(all, [](const Setting& of) { return of.order == SweepOrder::random; });
                           return all;
                         }()));

TEST_P(FactoredGapLearning, NeverLowersTheBoundThatTheOracleSees) {
  std::uint64_t seed = 0;
  for (const auto& [D, H, points] : {std::array<Index, 3>{4, 2, 60}, {9, 5, 120}, {12, 4, 150}, {4, 8, 100}})
    for (const double part : {0.3, 0.7}) {
      ++seed;
      SCOPED_TRACE(::testing::Message() << GetParam() << "; D=" << D << " H=" << H << ", " << part << " missing");
      const Matrix data = with_holes(
          random_data(random_model({.dimensions = D, .latents = H}, seed), points, seed + 50), part, seed + 60);
      FitOptions options = fit_options(GetParam(), H, 25, seed);
      options.inference = factored_with_gaps();
      options.intercept = seed % 2 == 0 ? Intercept::learned : Intercept::none;
      const FitResult result = fit(MatrixData(data), options);
      EXPECT_NO_THROW(result.model().validate());
      for (std::size_t t = 1; t < result.state.history.size(); ++t) {
        const double now = result.state.history[t].free_energy, before = result.state.history[t - 1].free_energy;
        ASSERT_TRUE(std::isfinite(now));
        EXPECT_GE(now, before - 1e-9 * std::abs(before)) << "iteration " << t;
      }
      EXPECT_GT(result.last().free_energy, result.state.history.front().free_energy + 1) << "it must learn";
      const FactoredOracle oracle(result.model());
      const FactoredSweep last = oracle::sweep(oracle, data, result.state.method.column("codes"), fixed_order(H));
      const double divergence = result.state.method.number("basis_divergence", 0);
      EXPECT_NEAR(result.last().free_energy + divergence, static_cast<double>(last.sums.free_energy),
                  1e-9 * std::abs(static_cast<double>(last.sums.free_energy)));
      if (GetParam().prior == BasisPrior::identity) {
        EXPECT_NEAR(divergence, static_cast<double>(oracle::identity_divergence(oracle.parameters())),
                    1e-9 * divergence);
      }
    }
}

/// The bound's slopes at what the M-step returns, by differences of the oracle's bound with posteriors held: W and V
/// given the old noise, the noise given them.
TEST(FactoredGaps, MStepHasNoGradientLeft) {
  for (const BasisPrior prior : {BasisPrior::none, BasisPrior::identity})
    for (const std::uint64_t seed : {1, 2, 4, 5}) {
      GapCase of = random_case(seed, prior == BasisPrior::identity, 60);
      SCOPED_TRACE(::testing::Message() << to_string(prior) << ", seed " << seed);
      const Index D = of.model.dimensions(), H = of.model.latents();
      const FactoredSweep at = oracle::sweep(FactoredOracle(of.model), of.data, of.codes, fixed_order(H));
      Matrix next_codes;
      const Statistics statistics =
          factored_step(of.model, MatrixData(of.data), factored_with_gaps(), fixed_order(H), of.codes, next_codes);
      FactoredOptions options;
      options.basis_prior = prior;
      FactoredState state;
      Rescues rescues;
      const Model next = factored_m_step(of.model, statistics, options, state, rescues);
      FactoredParameters with_old_noise(next), with_new_noise(next);
      with_old_noise.noise = FactoredParameters(of.model).noise;
      const auto value = [&](const FactoredParameters& theta) {
        const Real bound = oracle::total_bound(FactoredOracle(theta), of.data, at.points);
        return prior == BasisPrior::none ? bound : bound - oracle::identity_divergence(theta);
      };
      const auto slope = [&](const FactoredParameters& theta, Real step, const auto& move) {
        FactoredParameters up = theta, down = theta;
        move(up, step);
        move(down, -step);
        return static_cast<double>((value(up) - value(down)) / (2 * step));
      };
      for (Index d = 0; d < D; ++d)
        for (Index h = 0; h < H; ++h) {
          EXPECT_NEAR(slope(with_old_noise, 1e-5L, [&](auto& to, Real by) { to.W(d, h) += by; }), 0, 1e-4);
          if (prior == BasisPrior::none) continue;
          const Real step = 1e-4L * with_old_noise.V(d, h);
          EXPECT_NEAR(slope(with_old_noise, step, [&](auto& to, Real by) { to.V(d, h) += by; }) *
                          static_cast<double>(with_old_noise.V(d, h)),
                      0, 1e-4);
        }
      const Real step = 1e-4L * with_new_noise.noise.minCoeff();
      if (of.model.noise.type() == NoiseType::scalar) {
        EXPECT_NEAR(slope(with_new_noise, step, [&](auto& to, Real by) { to.noise.array() += by; }), 0, 1e-3);
      } else {
        for (Index d = 0; d < D; ++d)
          EXPECT_NEAR(slope(with_new_noise, step, [&](auto& to, Real by) { to.noise[d] += by; }), 0, 1e-3);
      }
    }
}

/// V_h = (K^-1 + diag(P g))^-1 by inversion, and the equations of m_h.
TEST(FactoredGaps, GpPosteriorSolvesItsEquations) {
  const GapCase of = random_case(8, true, 60);
  const Index D = of.model.dimensions(), H = of.model.latents();
  Matrix codes;
  const Statistics statistics =
      factored_step(of.model, MatrixData(of.data), factored_with_gaps(), fixed_order(H), of.codes, codes);
  FactoredOptions options;
  options.basis_prior = BasisPrior::gp;
  options.length_scale = 1.3;
  FactoredState state;
  state.length_scale = 1.3;
  Rescues rescues;
  Model next = of.model;
  for (int i = 0; i < 40; ++i) {  // each goes round twenty times
    Model from = of.model;
    from.W = next.W;
    next = factored_m_step(from, statistics, options, state, rescues);
  }
  const Matrix K_inverse = basis_covariance(options.basis_prior, {}, D, 1.3).inverse();
  const Vector P = of.model.noise.covariance().diagonal().cwiseInverse();
  double divergence = 0;
  for (Index h = 0; h < H; ++h) {
    Vector right = P.cwiseProduct(statistics.YZ.col(h)), g(D);
    for (Index d = 0; d < D; ++d)
      for (Index other = 0; other < H; ++other) {
        const double product =
            statistics.ZZ(h, other) - statistics.missing_ZZ(pair_row(std::min(h, other), std::max(h, other), H), d);
        if (other == h) g[d] = product;
        right[d] -= P[d] * next.W(d, other) * product;
      }
    const Vector left = K_inverse * next.W.col(h);
    EXPECT_LT((left - right).cwiseAbs().maxCoeff(), 1e-5 * (1 + left.cwiseAbs().maxCoeff())) << h;
    Matrix precision = K_inverse;
    precision.diagonal() += P.cwiseProduct(g);
    const Matrix V = precision.inverse();
    EXPECT_LT((V.diagonal() - next.W_variance.col(h)).cwiseAbs().maxCoeff(), 1e-9) << h;
    divergence += 0.5 * ((K_inverse * V).trace() + next.W.col(h).dot(left) - static_cast<double>(D) -
                         std::log((K_inverse * V).determinant()));
  }
  EXPECT_NEAR(state.basis_divergence, divergence, 1e-7 * divergence);
}

TEST(FactoredGaps, AColumnThatNobodyObservedHasItsPrior) {
  Matrix data = with_holes(random_data(random_model({.dimensions = 5, .latents = 3}, 25), 100, 26), 0.3, 27);
  data.col(2).setConstant(kNan);
  FitOptions options = fit_options({.noise = NoiseType::diagonal}, 3, 10);
  options.inference = factored_with_gaps();
  const Model model = fit(MatrixData(data), options).model();
  EXPECT_EQ(model.W.row(2).cwiseAbs().maxCoeff(), 0);
  EXPECT_EQ(model.W_variance.row(2).minCoeff(), 1);
  EXPECT_GT(model.W.row(1).cwiseAbs().maxCoeff(), 0);
}

TEST(FactoredGaps, TooLittleMemoryIsRefusedWithWhatIsNeeded) {
  const GapCase of = random_case(3, false);
  FitOptions options = fit_options({}, 400, 2);
  options.inference = factored_with_gaps();
  options.inference.gap_memory = 1;
  expect_error<UsageError>([&] { fit(MatrixData(of.data), options); },
                           {"gap_memory is 1 (MB)", "400 latents", "factored", "needs 12", "raise"});
}

}  // namespace
}  // namespace gsc::test
