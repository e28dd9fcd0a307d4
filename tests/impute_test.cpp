// Missing values from the posterior: against brute force, and by how often they lie where they are said to.

#include <gsc/missing.h>
#include <gtest/gtest.h>

#include <cmath>
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
      const Imputed got = impute(model, data, options, {.denoise_observed = denoise});
      const Posterior posterior = infer(model, data, options, {.candidates = true});
      for (Index n = 0; n < values.rows(); ++n) {
        const std::vector<Index> seen = oracle::observed_dimensions(values, n);
        const oracle::Parameters all(model);
        const oracle::Oracle observed(all.observed(seen));
        const oracle::States states =
            seen.empty() ? oracle::all_states(6)
                         : oracle::truncated_states(6, gsc::test::candidates_of(posterior, n), posterior.max_active);
        const oracle::Moments of = observed.moments(oracle::Vector(oracle::point(values, n)(seen)), states);
        for (Index d = 0; d < 5; ++d) {
          const bool missing = std::isnan(values(n, d));
          if (!missing && !denoise) {
            EXPECT_EQ(got.mean(n, d), values(n, d));
            EXPECT_EQ(got.std(n, d), 0);
            continue;
          }
          const oracle::Vector w = all.W.row(d).transpose();
          const oracle::Real signal = w.dot(of.m);
          const oracle::Real variance = w.dot(of.zz * w) - signal * signal + (missing ? all.Sigma(d, d) : 0);
          EXPECT_NEAR(got.mean(n, d), static_cast<double>(all.b[d] + signal), 1e-10);
          EXPECT_NEAR(got.std(n, d), static_cast<double>(std::sqrt(variance)), 1e-9);
        }
      }
      const Imputed part = impute(model, data, options, {.denoise_observed = denoise}, 20, 13);
      EXPECT_LT((part.mean - got.mean.middleRows(20, 13)).cwiseAbs().maxCoeff(), 1e-12);
    }
}

/// 95 of 100 missing values lie within two deviations, 68 within one, whatever part is missing.
TEST(Imputing, DeviationsCoverTheTruth) {
  ModelKnobs knobs;
  knobs.dimensions = 16;
  knobs.latents = 10;
  knobs.pi_low = knobs.pi_high = 0.2;
  knobs.intercept = true;
  const Model model = random_model(knobs, 211);
  const Matrix truth = random_data(model, 3000, 212);
  for (const double part : {0.1, 0.5, 0.8}) {
    const Matrix values = punched(truth, part, 213);
    const Imputed got = impute(model, MatrixData(values), exact(2));
    double count = 0, one = 0, two = 0;
    for (Index i = 0; i < truth.size(); ++i) {
      if (!std::isnan(values.data()[i])) continue;
      const double off = std::abs(got.mean.data()[i] - truth.data()[i]) / got.std.data()[i];
      count += 1;
      one += off < 1 ? 1 : 0;
      two += off < 2 ? 1 : 0;
    }
    std::printf("  %.0f %% missing: %.1f %% within one deviation, %.1f %% within two\n", 100 * part, 100 * one / count,
                100 * two / count);
    EXPECT_NEAR(two / count, 0.95, 0.02);
    EXPECT_GT(one / count, 0.66);
    EXPECT_LT(one / count, 0.80);
  }
}

}  // namespace
}  // namespace gsc::test
