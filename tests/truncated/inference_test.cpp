// The engine against brute force on every small shape, and brute force against numerical integration.

#include <gtest/gtest.h>

#include <cmath>

#include "effort.h"
#include "inference_check.h"
#include "oracle.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::Oracle;
using oracle::Real;
using oracle::State;

// --- The oracle itself -------------------------------------------------------------------------------------------

oracle::Vector vector2(Real a, Real b) { return (oracle::Vector(2) << a, b).finished(); }

/// exp(-x'A^-1x/2)/sqrt|2 pi A| written out for two dimensions, so that the oracle's densities are not their own judge.
Real normal2(const oracle::Vector& x, const oracle::Matrix& A) {
  const Real determinant = A(0, 0) * A(1, 1) - A(0, 1) * A(1, 0);
  const Real energy = (A(1, 1) * x[0] * x[0] - 2 * A(0, 1) * x[0] * x[1] + A(0, 0) * x[1] * x[1]) / determinant;
  return std::exp(-energy / 2) / (2 * std::numbers::pi_v<Real> * std::sqrt(determinant));
}

TEST(Oracle, DensityIntegratesToOne) {
  for (const ModelKnobs& knobs : every_type(2, 3)) {
    SCOPED_TRACE(describe(knobs));
    const Oracle oracle(random_model(knobs, 11));
    // The trapezoid rule is exact to rounding for smooth integrands that vanish at the ends.
    const Real step = 0.25L;
    Real total = 0;
    for (int i = -100; i <= 100; ++i) {
      for (int j = -100; j <= 100; ++j) {
        total += std::exp(oracle.log_likelihood(vector2(step * i, step * j))) * step * step;
      }
    }
    EXPECT_NEAR(static_cast<double>(total), 1, 1e-9);
  }
}

TEST(Oracle, MomentsEqualIntegralsOverTheSlab) {
  ModelKnobs knobs;
  knobs.dimensions = knobs.latents = 2;
  knobs.noise = NoiseType::full;
  knobs.slab = SlabType::full;
  const Oracle oracle(random_model(knobs, 5));
  const oracle::Parameters& theta = oracle.parameters();
  const oracle::Vector y = vector2(0.7L, -1.1L);

  // p(y, s, z) on a grid over z for each s; the slab exists whether or not it is switched on.
  Real evidence = 0;
  oracle::Vector s = oracle::Vector::Zero(2);
  oracle::Vector m = oracle::Vector::Zero(2);
  oracle::Matrix zz = oracle::Matrix::Zero(2, 2);
  const Real step = 0.1L;
  for (State state = 0; state < 4; ++state) {
    const oracle::Vector on = vector2(state & 1U, state >> 1 & 1U);
    Real prior = 1;
    for (Index h = 0; h < 2; ++h) prior *= on[h] > 0 ? theta.pi[h] : 1 - theta.pi[h];
    Real joint = 0;
    for (int i = -120; i <= 120; ++i) {
      for (int j = -120; j <= 120; ++j) {
        const oracle::Vector z = theta.mu + vector2(step * i, step * j);
        const oracle::Vector code = on.cwiseProduct(z);
        const Real p =
            prior * normal2(y - theta.W * code, theta.Sigma) * normal2(z - theta.mu, theta.Psi) * step * step;
        joint += p;
        s += p * on;
        m += p * code;
        zz += p * code * code.transpose();
      }
    }
    EXPECT_NEAR(static_cast<double>(std::log(joint)), static_cast<double>(oracle.log_joint(y, state)), 1e-9);
    evidence += joint;
  }
  const oracle::Moments got = oracle.moments(y, oracle::all_states(2));
  EXPECT_NEAR(static_cast<double>(got.log_sum), static_cast<double>(std::log(evidence)), 1e-9);
  EXPECT_LT((got.s - s / evidence).norm(), 1e-9L);
  EXPECT_LT((got.m - m / evidence).norm(), 1e-9L);
  EXPECT_LT((got.zz - zz / evidence).norm(), 1e-9L);
  EXPECT_LT((got.variance - (zz / evidence).diagonal() + (m / evidence).cwiseAbs2()).norm(), 1e-9L);
}

TEST(Oracle, StatesAreThoseOfThePaper) {
  EXPECT_EQ(oracle::all_states(3).size(), 8U);
  // Candidates 0 and 2 of 4, both may be active: {}, {0}, {2}, {0,2} and the other singletons {1}, {3}.
  const oracle::States expected{0b0000, 0b0001, 0b0010, 0b0100, 0b0101, 0b1000};
  EXPECT_EQ(oracle::truncated_states(4, {0, 2}, 2), expected);
  EXPECT_EQ(oracle::truncated_states(4, {0, 2}, 1).size(), 5U);
}

// --- The engine on every shape -----------------------------------------------------------------------------------

class EveryShape : public ::testing::TestWithParam<ModelKnobs> {};

TEST_P(EveryShape, EqualsBruteForce) {
  const Index counts[] = {13, 1, 13, 37, 13};  // never a multiple of a SIMD width
  const Index step = kSanitized ? 3 : 1;
  for (Index D = 1; D <= 8; D += step) {
    for (Index H = 1; H <= 8; H += step) {
      ModelKnobs knobs = GetParam();
      knobs.dimensions = D;
      knobs.latents = H;
      const std::uint64_t seed = static_cast<std::uint64_t>(100 * D + H);
      const Model model = random_model(knobs, seed);
      const Oracle oracle(model);
      const Matrix data = random_data(model, counts[(D + 2 * H) % 5], seed + 1);
      for (Index candidates = 1; candidates <= H; ++candidates) {
        for (Index max_active = 1; max_active <= candidates; ++max_active) {
          for (Selection selection : {Selection::singleton, Selection::conditional}) {
            SCOPED_TRACE(::testing::Message() << describe(knobs) << ", H'=" << candidates << ", gamma=" << max_active
                                              << (selection == Selection::singleton ? ", singleton" : ", conditional"));
            expect_brute_force(model, oracle, data, truncated(candidates, max_active, selection));
            if (HasFailure()) return;
          }
        }
      }
      SCOPED_TRACE(describe(knobs) + ", exact");
      expect_brute_force(model, oracle, data, exact());
      if (HasFailure()) return;
    }
  }
}

TEST_P(EveryShape, CandidatesAreThoseOfTheRule) {
  int points = 0, of_one_rule = 0;
  for (Index H : {2, 5, 8}) {
    for (Index D : {1, 3, 8}) {
      ModelKnobs knobs = GetParam();
      knobs.dimensions = D;
      knobs.latents = H;
      const Model model = random_model(knobs, 17);
      oracle::Parameters uncorrelated(model);  // which is how candidates are scored, also for a full slab
      uncorrelated.Psi = oracle::Matrix(uncorrelated.Psi.diagonal().asDiagonal());
      const Oracle oracle(uncorrelated);
      const Matrix data = random_data(model, 29, 18);
      for (Index candidates = 1; candidates <= H; ++candidates) {
        for (Selection selection : {Selection::singleton, Selection::conditional}) {
          SCOPED_TRACE(::testing::Message() << describe(knobs) << ", H'=" << candidates
                                            << (selection == Selection::singleton ? ", singleton" : ", conditional"));
          const Posterior got = infer(model, MatrixData(data), truncated(candidates, 1, selection),
                                      {.variance = false, .states = 0, .candidates = true});
          const Selection other = selection == Selection::singleton ? Selection::conditional : Selection::singleton;
          for (Index n = 0; n < data.rows(); ++n) {
            const oracle::Vector y = oracle::point(data, n);
            const std::vector<Index> chosen = candidates_of(got, n);
            ASSERT_TRUE(are_best_candidates(oracle, y, chosen, selection))
                << "data point " << n << " has the candidates " << ::testing::PrintToString(chosen)
                << "; scores alone are " << oracle.selection_scores(y).transpose();
            if (candidates < 2 || candidates == H) continue;
            ++points;
            of_one_rule += are_best_candidates(oracle, y, chosen, other) ? 0 : 1;
          }
        }
      }
    }
  }
  EXPECT_GT(of_one_rule, points / 5) << "too seldom do the rules differ for this to tell them apart";
}

INSTANTIATE_TEST_SUITE_P(Types, EveryShape, ::testing::ValuesIn(every_type(0, 0)),
                         [](const auto& test) { return type_name(test.param); });

}  // namespace
}  // namespace gsc::test
