// Missing values from the posterior: against brute force, and by how often they lie where they are said to.

#include <gsc/missing.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {
namespace {

Matrix punched(Matrix data, double part, std::uint64_t seed) {
  Random random(seed);
  std::uniform_real_distribution<double> uniform;
  for (Index n = 0; n < data.rows(); ++n)
    for (double& value : data.row(n))
      if (n % 7 != 4 && uniform(random) < part) value = std::numeric_limits<double>::quiet_NaN();
  return data;
}

/// Latents that are no candidates, one after the other given the means of the others: the posterior of the factored
/// method on the observed entries, three times round, by residuals in D dimensions.
struct Outside {
  oracle::Vector mean, variance;
};
Outside outside(const oracle::Parameters& all, const Matrix& values, Index n, const std::vector<Index>& seen,
                const std::vector<Index>& candidates, const oracle::Vector& inside) {
  using oracle::Real;
  const Index H = all.W.cols();
  Outside of{oracle::Vector::Zero(H), oracle::Vector::Zero(H)};
  for (int round = 0; round < 3; ++round)
    for (Index h = 0; h < H; ++h) {
      if (std::find(candidates.begin(), candidates.end(), h) != candidates.end()) continue;
      Real precision = 1 / all.Psi(h, h), pull = all.mu[h] / all.Psi(h, h);
      for (const Index d : seen) {
        Real residual = values(n, d) - all.b[d] - all.W.row(d).dot(inside);
        for (Index other = 0; other < H; ++other)
          if (other != h) residual -= all.W(d, other) * of.mean[other];
        precision += all.W(d, h) * all.W(d, h) / all.Sigma(d, d);
        pull += all.W(d, h) * residual / all.Sigma(d, d);
      }
      const Real nu = pull / precision;
      const Real odds = all.pi[h] / (1 - all.pi[h]) / std::sqrt(precision * all.Psi(h, h)) *
                        std::exp((nu * nu * precision - all.mu[h] * all.mu[h] / all.Psi(h, h)) / 2);
      const Real gamma = odds / (1 + odds);
      of.mean[h] = gamma * nu;
      of.variance[h] = gamma * (nu * nu + 1 / precision) - of.mean[h] * of.mean[h];
    }
  return of;
}

class ImputingTypes : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, ImputingTypes, ::testing::ValuesIn([] {
                           std::vector<ModelKnobs> all = every_type(5, 6);
                           std::erase_if(all, [](const ModelKnobs& of) { return of.noise == NoiseType::full; });
                           return all;
                         }()),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(ImputingTypes, EqualsBruteForce) {
  const Model model = random_model(GetParam(), 201);
  Matrix values = punched(random_data(model, 60, 202), 0.5, 203);
  values.row(8).setConstant(std::numeric_limits<double>::quiet_NaN());
  const MatrixData data(values);
  for (const InferenceOptions& chosen : {exact(), truncated(4, 3, Selection::conditional)})
    for (const bool denoise : {false, true}) {
      InferenceOptions options = chosen;
      options.missing = Missing::nan;
      const Imputed got = impute(model, data, options, {.denoise_observed = denoise, .calibrate = false});
      EXPECT_EQ(got.scale, 1);
      const Posterior posterior = infer(model, data, options, {.candidates = true});
      for (Index n = 0; n < values.rows(); ++n) {
        const std::vector<Index> seen = oracle::observed_dimensions(values, n);
        const oracle::Parameters all(model);
        const oracle::Oracle observed(all.observed(seen));
        const std::vector<Index> candidates = gsc::test::candidates_of(posterior, n);
        oracle::States states = oracle::truncated_states(6, candidates, posterior.max_active);
        std::erase_if(states, [&](oracle::State state) {  // those of no candidates
          for (const Index h : candidates) state &= ~(oracle::State{1} << h);
          return state != 0;
        });
        if (seen.empty()) states = oracle::all_states(6);
        const oracle::Moments of = observed.moments(oracle::Vector(oracle::point(values, n)(seen)), states);
        Outside others = outside(all, values, n, seen, candidates, of.m);
        if (seen.empty()) others = {oracle::Vector::Zero(6), oracle::Vector::Zero(6)};
        for (Index d = 0; d < 5; ++d) {
          const bool missing = std::isnan(values(n, d));
          if (!missing && !denoise) {
            EXPECT_EQ(got.mean(n, d), values(n, d));
            EXPECT_EQ(got.std(n, d), 0);
            continue;
          }
          const oracle::Vector w = all.W.row(d).transpose();
          const oracle::Real signal = w.dot(of.m);
          const oracle::Real variance =
              w.dot(of.zz * w) - signal * signal + w.cwiseAbs2().dot(others.variance) + (missing ? all.Sigma(d, d) : 0);
          EXPECT_NEAR(got.mean(n, d), static_cast<double>(all.b[d] + signal + w.dot(others.mean)), 1e-10);
          EXPECT_NEAR(got.std(n, d), static_cast<double>(std::sqrt(variance)), 1e-9);
        }
      }
      const Imputed part = impute(model, data, options, {.denoise_observed = denoise, .calibrate = false}, 20, 13);
      EXPECT_LT((part.mean - got.mean.middleRows(20, 13)).cwiseAbs().maxCoeff(), 1e-12);
    }
}

/// How many of the missing values lie within one and two deviations.
struct Coverage {
  double one = 0, two = 0;
  Imputed imputed;
};
Coverage coverage(const Model& model, const Matrix& truth, double part, const InferenceOptions& options,
                  const ImputeOptions& what = {}) {
  const Matrix values = punched(truth, part, 213);
  Coverage of{0, 0, impute(model, MatrixData(values), options, what)};
  double count = 0;
  for (Index i = 0; i < truth.size(); ++i) {
    if (!std::isnan(values.data()[i])) continue;
    const double off = std::abs(of.imputed.mean.data()[i] - truth.data()[i]) / of.imputed.std.data()[i];
    count += 1;
    of.one += off < 1 ? 1 : 0;
    of.two += off < 2 ? 1 : 0;
  }
  of.one /= count;
  of.two /= count;
  std::printf("  %s, %.0f %% missing: %.1f %% within one deviation, %.1f %% within two (times %.3f)\n",
              std::string(to_string(options.method)).c_str(), 100 * part, 100 * of.one, 100 * of.two, of.imputed.scale);
  return of;
}

Model model_to_impute(Index latents) {
  ModelKnobs knobs;
  knobs.dimensions = 16;
  knobs.latents = latents;
  knobs.pi_low = knobs.pi_high = 0.2;
  knobs.intercept = true;
  return random_model(knobs, 211);
}

/// 95 of 100 missing values lie within two deviations, 68 within one, whatever part is missing.
TEST(Imputing, DeviationsCoverTheTruth) {
  const Model model = model_to_impute(10);
  const Matrix truth = random_data(model, 3000, 212);
  for (const double part : {0.1, 0.5, 0.8}) {
    const Coverage of = coverage(model, truth, part, exact(2));
    EXPECT_EQ(of.imputed.scale, 1);
    EXPECT_EQ(of.imputed.held_out, 0);
    EXPECT_NEAR(of.two, 0.95, 0.02);
    EXPECT_GT(of.one, 0.66);
    EXPECT_LT(of.one, 0.80);
  }
}

/// The same where the posterior is too narrow: half of the latents can be active together, or are taken as
/// independent.
TEST(Imputing, DeviationsOfApproximationsCoverTheTruth) {
  const Model model = model_to_impute(20);
  const Matrix truth = random_data(model, 2500, 212);
  InferenceOptions factored;
  factored.method = Method::factored;
  for (const InferenceOptions& options : {truncated(10, 5, Selection::conditional, 2), factored})
    for (const double part : {0.1, 0.5, 0.8}) {
      const Coverage of = coverage(model, truth, part, options);
      EXPECT_GT(of.imputed.held_out, 200);
      EXPECT_GT(of.imputed.scale, 1);
      EXPECT_NEAR(of.two, 0.95, 0.02);
      const Coverage as_told = coverage(model, truth, part, options, {.calibrate = false});
      EXPECT_LT(as_told.two, of.two);
      EXPECT_EQ(as_told.imputed.mean, of.imputed.mean);
      EXPECT_LT((as_told.imputed.std * of.imputed.scale - of.imputed.std).cwiseAbs().maxCoeff(), 1e-12);
    }
}

/// With too few values nothing can be said about deviations, and nothing is done.
TEST(Imputing, FewValuesSayNothing) {
  const Model model = model_to_impute(20);
  const Coverage of = coverage(model, random_data(model, 60, 212), 0.3, truncated(10, 5));
  EXPECT_EQ(of.imputed.held_out, 0);
  EXPECT_EQ(of.imputed.scale, 1);
}

}  // namespace
}  // namespace gsc::test
