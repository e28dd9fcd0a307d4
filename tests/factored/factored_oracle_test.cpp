// The judge of the factored method before the bench: its bound is what the definition says, and its updates maximise
// it.

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "factored_oracle.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::FactoredOracle;
using oracle::FactoredPosterior;
using oracle::fixed_order;
using oracle::Oracle;
using oracle::Real;
using oracle::State;

Model random_case(std::uint64_t seed, Index latents, bool uncertain) {
  ModelKnobs knobs;
  knobs.dimensions = static_cast<Index>(1 + seed % 6);
  knobs.latents = latents;
  knobs.noise = seed % 2 == 0 ? NoiseType::scalar : NoiseType::diagonal;
  Model model = random_model(knobs, seed);
  Random random(seed);
  if (uncertain) model.W_variance = 0.3 * normal_matrix(knobs.dimensions, latents, random).array().square();
  return model;
}

/// sum_s q(s) [ E[log p(y | s, z)] + E[log p(s, z) - log q(s, z)] ], state by state, for a W without uncertainty.
Real bound_by_states(const FactoredOracle& oracle, const oracle::Vector& y, const FactoredPosterior& q) {
  const oracle::FactoredParameters& theta = oracle.parameters();
  Real bound = 0;
  for (const State state : oracle::all_states(oracle.latents())) {
    Real weight = 1;
    Real inside = 0;
    oracle::Vector residual = y;
    for (Index h = 0; h < oracle.latents(); ++h) {
      const bool on = (state >> h & 1U) != 0;
      weight *= on ? q.gamma[h] : q.not_gamma[h];
      inside += on ? std::log(theta.pi[h] / q.gamma[h]) : std::log((1 - theta.pi[h]) / q.not_gamma[h]);
      if (!on) continue;
      const Real shift = q.nu[h] - theta.mu[h];
      inside += (1 + std::log(q.tau2[h] / theta.v[h]) - (q.tau2[h] + shift * shift) / theta.v[h]) / 2;
      inside -= q.tau2[h] * (theta.W.col(h).array().square() / theta.noise.array()).sum() / 2;
      residual -= theta.W.col(h) * q.nu[h];
    }
    for (Index d = 0; d < y.size(); ++d) {
      inside -= std::log(2 * std::numbers::pi_v<Real> * theta.noise[d]) / 2;
      inside -= residual[d] * residual[d] / theta.noise[d] / 2;
    }
    bound += weight * inside;
  }
  return bound;
}

TEST(FactoredOracle, BoundIsTheDefinition) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    const Index H = static_cast<Index>(1 + seed % 5);
    const Model model = random_case(seed, H, false);
    const oracle::Vector y = oracle::point(random_data(model, 1, seed), 0);
    const FactoredOracle oracle(model);
    const FactoredPosterior q = oracle.sweep(y, oracle::Vector::Zero(H), fixed_order(H));
    EXPECT_NEAR(static_cast<double>(oracle.bound(y, q) - bound_by_states(oracle, y, q)), 0, 1e-15) << "seed " << seed;
    const Real likelihood = Oracle(model).log_likelihood(y);
    EXPECT_LE(oracle.bound(y, q), likelihood + 1e-15L);
    if (H == 1) {
      EXPECT_NEAR(static_cast<double>(oracle.bound(y, q) - likelihood), 0, 1e-15) << "seed " << seed;
    }
  }
}

TEST(FactoredOracle, BoundOfAnUncertainBasisIsTheMeanOverIt) {
  // log p(y | W) is quadratic in W, so its mean under independent entries is
  //   f(m) + sum_dh V_dh (f(m + e) - 2 f(m) + f(m - e)) / (2 e^2)      for a step e of any size in entry dh
  const Index H = 3;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Model model = random_case(seed, H, true);
    const oracle::Vector y = oracle::point(random_data(model, 1, seed), 0);
    const FactoredOracle oracle(model);
    const FactoredPosterior q = oracle.sweep(y, oracle::Vector::Ones(H), fixed_order(H));
    oracle::FactoredParameters certain = oracle.parameters();
    certain.V.setZero();
    const Real at = FactoredOracle(certain).bound(y, q);
    Real mean = at;
    for (Index d = 0; d < y.size(); ++d) {
      for (Index h = 0; h < H; ++h) {
        Real around = -2 * at;
        for (const Real step : {-1.0L, 1.0L}) {
          oracle::FactoredParameters moved = certain;
          moved.W(d, h) += step;
          around += FactoredOracle(moved).bound(y, q);
        }
        mean += oracle.parameters().V(d, h) * around / 2;
      }
    }
    EXPECT_NEAR(static_cast<double>(oracle.bound(y, q) / mean), 1, 1e-15) << "seed " << seed;
  }
}

TEST(FactoredOracle, EveryUpdateMaximisesTheBound) {
  const Index H = 4;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Model model = random_case(seed, H, seed % 3 != 0);
    const oracle::Vector y = oracle::point(random_data(model, 1, seed), 0);
    const FactoredOracle oracle(model);
    for (Index last = 0; last < H; ++last) {  // the latent updated last is at its best given the others
      SCOPED_TRACE(::testing::Message() << "seed " << seed << ", latent " << last);
      std::vector<Index> order = fixed_order(H);
      std::swap(order[static_cast<std::size_t>(last)], order.back());
      const FactoredPosterior q = oracle.sweep(y, oracle::Vector::Ones(H), order);
      const Real best = oracle.bound(y, q);
      const Real logit = std::log(q.gamma[last] / q.not_gamma[last]);
      // How far a step of e lowers the maximum, from q's own shape: off the maximum a step would gain or lose O(e)
      // more.
      const auto expect_fall = [&](const char* what, const FactoredPosterior& moved, Real fall) {
        EXPECT_NEAR(static_cast<double>(best - oracle.bound(y, moved)), static_cast<double>(fall),
                    static_cast<double>(0.01L * fall + 1e-16L))
            << what;
      };
      const Real gamma = q.gamma[last];
      const Real tau2 = q.tau2[last];
      for (const Real step : {-1e-3L, 1e-3L}) {
        FactoredPosterior moved = q;
        moved.set_logit(last, logit + step);
        expect_fall("gamma", moved, gamma * q.not_gamma[last] * step * step / 2);
        moved = q;
        moved.nu[last] += step;
        expect_fall("nu", moved, gamma * step * step / tau2 / 2);
        moved = q;
        moved.tau2[last] *= 1 + step;
        expect_fall("tau", moved, gamma * (step - std::log1p(step)) / 2);
      }
    }
  }
}

}  // namespace
}  // namespace gsc::test
