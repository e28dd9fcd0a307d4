// Inference by the factored method: the sweep, its bound, and the fixed point, against naive formulas in long double
// and against exact inference where the two must agree.

#include <gsc/inference.h>
#include <gtest/gtest.h>

#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "expect_error.h"
#include "factored/engine.h"
#include "factored_check.h"
#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::FactoredOracle;
using oracle::FactoredPosterior;
using oracle::FactoredSweep;
using oracle::fixed_order;
using oracle::Oracle;
using oracle::Real;

/// One sweep of the engine is one sweep of the oracle, in all it leaves behind.
void expect_same_sweep(const Model& model, const Matrix& data, const std::vector<Index>& order, const Matrix& codes,
                       double allowed) {
  const FactoredOracle oracle(model);
  const FactoredSweep expected = oracle::sweep(oracle, data, codes, order);
  const Real scale = energy_scale(oracle, data, expected);
  Matrix next = Matrix::Constant(2, 3, -7);  // must be replaced whatever it was
  const Statistics got = factored_step(model, MatrixData(data), factored(), order, codes, next);
  EXPECT_LT(code_error(expected, next), allowed);
  EXPECT_LT(statistics_error(expected.sums, scale, got), allowed);

  Matrix next_of_many;
  const Statistics many = factored_step(model, MatrixData(data), factored(3), order, codes, next_of_many);
  EXPECT_LT(relative_difference(got, many), 1e-12) << "threads";
  ASSERT_EQ(next_of_many.rows(), next.rows());
  EXPECT_LT((next_of_many - next).cwiseAbs().maxCoeff(), 1e-12 * (1 + next.cwiseAbs().maxCoeff())) << "threads";
}

struct SweepCase {
  Index dimensions, latents, points;
};

TEST(FactoredSweep, IsTheNaiveOne) {
  std::vector<SweepCase> cases;
  for (Index size = 1; size <= 8; ++size) {
    cases.push_back({size, 9 - size, 17});
    cases.push_back({size, size, size % 2 == 0 ? 3 : 1});
    cases.push_back({size, 1 + size * 5 % 8, 37});
  }
  for (const SweepCase& large : {SweepCase{40, 70, 17}, {40, 33, 130}, {16, 70, 3}, {5, 6, 1000}, {3, 2, 5001}}) {
    cases.push_back(large);
  }
  std::uint64_t seed = 100;
  for (const SweepCase& size : cases) {
    for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal}) {
      for (const bool uncertain : {false, true}) {
        ++seed;
        ModelKnobs knobs;
        knobs.dimensions = size.dimensions;
        knobs.latents = size.latents;
        knobs.noise = noise;
        SCOPED_TRACE(::testing::Message() << knobs << ", N=" << size.points << ", W uncertain " << uncertain);
        Model model = random_model(knobs, seed);
        if (uncertain) model = with_uncertain_basis(model, seed);
        const Matrix data = random_data(model, size.points, seed);
        Random random(seed);
        const std::vector<Index> order = random_order(size.latents, random);
        expect_same_sweep(model, data, order, normal_matrix(size.latents, size.points, random), 1e-10);
        expect_same_sweep(model, data, order, Matrix(), 1e-10);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(FactoredSweep, ThreadsAndBlocksDoNotShow) {
  const Index H = 40;
  const Index points = 8011;  // enough work for the engine to think three threads worth it
  const Model model = with_uncertain_basis(random_model({.dimensions = 64, .latents = H, .noise_std = 2}, 31), 32);
  const Matrix data = random_data(model, points, 33);
  const MatrixData table(data);
  Random random(34);
  const std::vector<Index> order = random_order(H, random);
  const Matrix codes = normal_matrix(H, points, random);
  Matrix next_of_one;
  Matrix next_of_three;
  const Statistics one = factored_step(model, table, factored(1), order, codes, next_of_one);
  const Statistics three = factored_step(model, table, factored(3), order, codes, next_of_three);
  EXPECT_LT(relative_difference(one, three), 1e-12);
  EXPECT_FALSE(same_bits(one, three)) << "sums in another order round otherwise: there were no three threads";
  EXPECT_LT((next_of_one - next_of_three).cwiseAbs().maxCoeff(), 1e-12 * next_of_one.cwiseAbs().maxCoeff());
  const FactoredOracle oracle(model);
  for (Index n = 0; n < points; n += 499) {
    const oracle::Vector expected = oracle.sweep(oracle::point(data, n), codes.col(n).cast<Real>(), order).mean();
    EXPECT_LT((expected - next_of_three.col(n).cast<Real>()).cwiseAbs().maxCoeff(), 1e-10L) << "data point " << n;
  }
  EXPECT_LT(relative_difference(e_step(model, table, factored(1)), e_step(model, table, factored(3))), 1e-6);
}

TEST(FactoredSweep, StaysRightAtTheExtremes) {
  struct Extreme {
    const char* name;
    ModelKnobs knobs;
    double data_scale;
    double allowed;
  };
  // A logit is a difference of nu^2/tau^2 and mu^2/v. Rounding alone leaves it 1e-16 of these: 1e-10 and more where the
  // noise is 1e-3 of the data, 1e-8 where v is 1e-8 of mu^2.
  const ModelKnobs usual{.dimensions = 6, .latents = 5};
  std::vector<Extreme> cases(8, Extreme{"", usual, 1, 1e-10});
  cases[0].name = "rare latents";
  cases[0].knobs.pi_low = cases[0].knobs.pi_high = 1e-12;
  cases[1].name = "latents nearly always on";
  cases[1].knobs.pi_low = cases[1].knobs.pi_high = 1 - 1e-12;
  cases[2].name = "tiny noise";
  cases[2].knobs.noise_std = 1e-3;
  cases[2].allowed = 1e-7;
  cases[3].name = "tiny noise, rare latents";
  cases[3].knobs.noise_std = 1e-3;
  cases[3].knobs.pi_low = cases[3].knobs.pi_high = 1e-12;
  cases[3].allowed = 1e-7;
  cases[4].name = "large data";
  cases[4].data_scale = 1e3;
  cases[4].allowed = 1e-7;
  cases[5].name = "huge slab";
  cases[5].knobs.slab_variance = 1e8;
  cases[5].allowed = 1e-7;
  cases[6].name = "tiny slab";
  cases[6].knobs.slab_variance = 1e-8;
  cases[6].allowed = 1e-6;
  cases[7].name = "columns alike";
  cases[7].knobs.column_spread = 1e-6;
  std::uint64_t seed = 300;
  for (Extreme extreme : cases) {
    for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal}) {
      for (const Index points : {1, 17}) {
        ++seed;
        extreme.knobs.noise = noise;
        SCOPED_TRACE(::testing::Message() << extreme.name << ": " << extreme.knobs << ", N=" << points);
        const Model model = random_model(extreme.knobs, seed);
        const Matrix data = random_data(model, points, seed, extreme.data_scale);
        Random random(seed);
        const std::vector<Index> order = random_order(5, random);
        expect_same_sweep(model, data, order, Matrix(), extreme.allowed);
        expect_same_sweep(with_uncertain_basis(model, seed), data, order, normal_matrix(5, points, random),
                          extreme.allowed);
      }
    }
  }
}

TEST(FactoredSweep, NeverLowersTheBound) {
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    ModelKnobs knobs;
    knobs.dimensions = static_cast<Index>(2 + seed % 7);
    knobs.latents = static_cast<Index>(2 + seed * 5 % 11);
    knobs.noise = seed % 2 == 0 ? NoiseType::scalar : NoiseType::diagonal;
    knobs.noise_std = seed % 3 == 0 ? 0.05 : 0.7;
    SCOPED_TRACE(::testing::Message() << knobs << ", seed " << seed);
    Model model = random_model(knobs, seed);
    if (seed % 4 < 2) model = with_uncertain_basis(model, seed);
    const MatrixData data(random_data(model, 53, seed));
    Random random(seed);
    Matrix codes = normal_matrix(knobs.latents, 53, random);
    double first = 0;
    double before = -std::numeric_limits<double>::infinity();
    for (int sweep = 0; sweep < 25; ++sweep) {
      Matrix next;
      const Statistics got = factored_step(model, data, factored(), random_order(knobs.latents, random), codes, next);
      EXPECT_GE(got.free_energy, before - 1e-11 * std::abs(before)) << "sweep " << sweep;
      before = got.free_energy;
      if (sweep == 0) first = before;
      codes = next;
    }
    EXPECT_GT(before, first + 1e-3) << "sweeps must get somewhere";
  }
}

/// The posterior that infer() reports, as q(s, z). tau^2 is the same for all data points.
FactoredPosterior reported(const Posterior& posterior, Index n, const oracle::Vector& tau2) {
  FactoredPosterior q;
  q.gamma = oracle::point(posterior.probability, n);
  q.not_gamma = 1 - q.gamma.array();
  q.nu = oracle::Vector::Zero(tau2.size());
  q.tau2 = tau2;
  for (Index h = 0; h < tau2.size(); ++h) {
    if (q.gamma[h] > 1e-150L) q.nu[h] = static_cast<Real>(posterior.mean(n, h)) / q.gamma[h];
  }
  return q;
}

TEST(FactoredInference, IsAFixedPointWithItsOwnBound) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ModelKnobs knobs;
    knobs.dimensions = static_cast<Index>(2 + seed % 9);
    knobs.latents = static_cast<Index>(1 + seed * 7 % 12);
    knobs.noise = seed % 2 == 0 ? NoiseType::scalar : NoiseType::diagonal;
    SCOPED_TRACE(::testing::Message() << knobs << ", seed " << seed);
    Model model = random_model(knobs, seed);
    if (seed % 4 < 2) model = with_uncertain_basis(model, seed);
    const Matrix data = random_data(model, 37, seed);
    const MatrixData table(data);
    const std::vector<Index> order = fixed_order(knobs.latents);
    const Posterior got = infer(model, table, factored(), {.variance = true});
    ASSERT_EQ(got.mean.rows(), 37);

    const FactoredOracle oracle(model);
    const FactoredSweep again = oracle::sweep(oracle, data, got.mean.transpose(), order);
    EXPECT_LT((again.means - got.mean.cast<Real>()).cwiseAbs().maxCoeff(), 1e-6L);
    oracle::Sums sums(knobs.dimensions, knobs.latents);
    for (Index n = 0; n < 37; ++n) {
      const oracle::Vector y = oracle::point(data, n);
      const FactoredPosterior q = reported(got, n, again.points[static_cast<std::size_t>(n)].tau2);
      const oracle::Moments moments = oracle.moments(y, q);
      EXPECT_NEAR(got.log_likelihood[n] / static_cast<double>(moments.log_sum), 1, 1e-10) << "data point " << n;
      const oracle::Vector variance = oracle::point(got.variance, n);
      EXPECT_LT((variance - moments.variance).cwiseAbs().maxCoeff(), 1e-10L * (1 + q.square().maxCoeff()));
      sums.add(y, moments);
    }
    EXPECT_LT(statistics_error(sums, energy_scale(oracle, data, again), e_step(model, table, factored())), 1e-7)
        << "e_step sums what infer reports";
    EXPECT_LT(statistics_error(sums, energy_scale(oracle, data, again), e_step(model, table, factored(3))), 1e-7);

    const Posterior some = infer(model, table, factored(2), {}, 5, 20);
    EXPECT_LT((some.mean - got.mean.middleRows(5, 20)).cwiseAbs().maxCoeff(), 1e-4)
        << "rows by themselves: they may be swept more or less often, but to the same end";
    EXPECT_EQ(some.variance.size(), 0) << "nobody asked";
    if (HasFailure()) return;
  }
}

TEST(FactoredInference, SweepsFromZeroInTheFixedOrder) {
  // Correlated columns: other starts and orders end in other optima for some of the data points (asserted below).
  const Index H = 6;
  Model model = random_model({.dimensions = 4, .latents = H, .noise_std = 0.2}, 17);
  model.mu.setZero();
  const Matrix data = random_data(model, 60, 18);
  const Posterior got = infer(model, MatrixData(data), factored());
  const FactoredOracle oracle(model);
  const auto converged = [&](const oracle::Vector& y, const std::vector<Index>& order) {
    oracle::Vector means = oracle::Vector::Zero(H);
    for (int sweep = 0; sweep < 20000; ++sweep) {
      const oracle::Vector next = oracle.sweep(y, means, order).mean();
      const Real moved = (next - means).cwiseAbs().maxCoeff();
      means = next;
      if (moved < 1e-14L) break;
    }
    return means;
  };
  std::vector<Index> backward = fixed_order(H);
  std::reverse(backward.begin(), backward.end());
  Real order_matters = 0;
  for (Index n = 0; n < data.rows(); ++n) {
    const oracle::Vector y = oracle::point(data, n);
    const oracle::Vector expected = converged(y, fixed_order(H));
    EXPECT_LT((expected - oracle::point(got.mean, n)).cwiseAbs().maxCoeff(), 1e-3L) << "data point " << n;
    order_matters = std::max(order_matters, (converged(y, backward) - expected).cwiseAbs().maxCoeff());
  }
  EXPECT_GT(order_matters, 0.1L) << "the test would not notice another order";
}

/// Factored and exact inference must not differ where the posterior does factor.
void expect_exact(const Model& model, const Matrix& data, double allowed) {
  const MatrixData table(data);
  const Posterior got = infer(model, table, factored(), {.variance = true});
  const Posterior truth = infer(model, table, exact(), {.variance = true});
  const double scale = 1 + truth.mean.cwiseAbs().maxCoeff();
  EXPECT_LT((got.mean - truth.mean).cwiseAbs().maxCoeff(), allowed * scale);
  EXPECT_LT((got.probability - truth.probability).cwiseAbs().maxCoeff(), allowed);
  EXPECT_LT((got.variance - truth.variance).cwiseAbs().maxCoeff(), allowed * scale * scale);
  EXPECT_LT(
      ((got.log_likelihood - truth.log_likelihood).array() / (1 + truth.log_likelihood.array().abs())).abs().maxCoeff(),
      allowed);
}

TEST(FactoredInference, IsExactForOneLatent) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    ModelKnobs knobs;
    knobs.dimensions = static_cast<Index>(1 + seed % 7);
    knobs.latents = 1;
    knobs.noise = seed % 2 == 0 ? NoiseType::scalar : NoiseType::diagonal;
    SCOPED_TRACE(::testing::Message() << knobs << ", seed " << seed);
    const Model model = random_model(knobs, seed);
    expect_exact(model, random_data(model, 29, seed), 1e-10);
  }
}

/// Columns orthogonal in the metric of the noise, W' Sigma^-1 W diagonal, of different lengths.
Model orthogonal_model(NoiseType noise, std::uint64_t seed) {
  const ModelKnobs knobs{.dimensions = 8, .latents = 5, .noise = noise};
  Model model = random_model(knobs, seed);
  const Eigen::MatrixXd basis = Eigen::HouseholderQR<Eigen::MatrixXd>(model.W).householderQ() *
                                Eigen::MatrixXd::Identity(knobs.dimensions, knobs.latents);
  const Vector deviations = model.noise.covariance().diagonal().cwiseSqrt();
  const Vector lengths = Vector::LinSpaced(knobs.latents, 1, 4);
  model.W = deviations.asDiagonal() * basis * lengths.asDiagonal();
  return model;
}

TEST(FactoredInference, IsExactForAnOrthogonalBasis) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", noise " << to_string(noise));
      const Model model = orthogonal_model(noise, seed);
      expect_exact(model, random_data(model, 43, seed), 1e-8);
    }
  }
}

TEST(FactoredInference, BoundsTheLogLikelihoodFromBelow) {
  double largest_gap = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    ModelKnobs knobs;
    knobs.dimensions = static_cast<Index>(1 + seed % 6);
    knobs.latents = static_cast<Index>(1 + seed % 8);
    knobs.noise = seed % 2 == 0 ? NoiseType::scalar : NoiseType::diagonal;
    knobs.noise_std = seed % 3 == 0 ? 0.1 : 0.7;
    SCOPED_TRACE(::testing::Message() << knobs << ", seed " << seed);
    const Model model = random_model(knobs, seed);
    const Matrix data = random_data(model, 11, seed);
    const Posterior got = infer(model, MatrixData(data), factored());
    const Oracle truth(model);
    for (Index n = 0; n < data.rows(); ++n) {
      const double likelihood = static_cast<double>(truth.log_likelihood(oracle::point(data, n)));
      EXPECT_LE(got.log_likelihood[n], likelihood + 1e-9 * (1 + std::abs(likelihood))) << "data point " << n;
      largest_gap = std::max(largest_gap, likelihood - got.log_likelihood[n]);
    }
  }
  EXPECT_GT(largest_gap, 0.1) << "these posteriors do not factor: equality would be a mistake";
}

TEST(FactoredInference, RefusesWhatItCannotDo) {
  for (const ModelKnobs& knobs : every_type(3, 2)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const Model model = random_model(knobs, 5);
    const MatrixData data(random_data(model, 7, 6));
    Matrix next;
    const std::function<void()> calls[] = {
        [&] { infer(model, data, factored()); }, [&] { e_step(model, data, factored()); },
        [&] { factored_step(model, data, factored(), fixed_order(2), Matrix(), next); }};
    for (const std::function<void()>& call : calls) {
      if (knobs.noise == NoiseType::full)  // said first where both are wrong
        expect_error<UsageError>(call, {"noise is full", "scalar or diagonal noise"});
      else if (knobs.slab == SlabType::full)
        expect_error<UsageError>(call, {"slab is full", "a diagonal slab"});
      else
        EXPECT_NO_THROW(call());
    }
  }
  const Model model = random_model({.dimensions = 3, .latents = 2}, 5);
  const MatrixData data(random_data(model, 7, 6));
  expect_error<UsageError>([&] { infer(model, data, factored(), {.states = 2}); },
                           {"states asked for", "use the truncated method"});
  expect_error<UsageError>([&] { infer(model, data, factored(), {.candidates = true}); },
                           {"candidates asked for", "use the truncated method"});
}

}  // namespace
}  // namespace gsc::test
