// The engine against brute force where careless arithmetic breaks: nearly equal columns, certain and impossible
// latents, data far larger or smaller than the noise, float, and data that shares candidates.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "inference_check.h"
#include "oracle.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::Oracle;

const Selection kSelections[] = {Selection::singleton, Selection::conditional};

/// Every type, both selections, a truncation with and one without latents outside the candidates.
void expect_all_types(const ModelKnobs& knobs, const Matrix* data, double scale, const Tolerance& tolerance,
                      Precision precision = Precision::double_precision) {
  for (ModelKnobs types : every_type(knobs.dimensions, knobs.latents)) {
    ModelKnobs now = knobs;
    now.noise = types.noise;
    now.slab = types.slab;
    const Model model = random_model(now, 23);
    const Oracle oracle(model);
    const Matrix drawn = data != nullptr ? *data : random_data(model, 37, 24, scale);
    for (Index candidates : {now.latents / 2 + 1, now.latents}) {
      for (Index max_active : {std::min<Index>(2, candidates), candidates}) {
        for (Selection selection : kSelections) {
          SCOPED_TRACE(::testing::Message()
                       << describe(now) << ", data scale " << scale << ", H'=" << candidates << ", gamma=" << max_active
                       << (selection == Selection::singleton ? ", singleton" : ", conditional"));
          InferenceOptions options = truncated(candidates, max_active, selection);
          options.precision = precision;
          expect_brute_force(model, oracle, drawn, options, tolerance);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

ModelKnobs knobs_of(Index dimensions, Index latents) {
  ModelKnobs knobs;
  knobs.dimensions = dimensions;
  knobs.latents = latents;
  return knobs;
}

TEST(HardInference, NearlyEqualColumns) {
  for (double spread : {1e-2, 1e-4, 1e-6}) {
    for (double slab_variance : {1.0, 1e4}) {
      ModelKnobs knobs = knobs_of(6, 5);
      knobs.column_spread = spread;
      knobs.slab_variance = slab_variance;
      expect_all_types(knobs, nullptr, 1, kDouble);
    }
  }
}

TEST(HardInference, MoreLatentsThanDimensions) {
  ModelKnobs knobs = knobs_of(2, 8);
  knobs.slab_variance = 1e3;  // G has rank two: only the slab keeps J regular
  expect_all_types(knobs, nullptr, 1, kDouble);
}

TEST(HardInference, RareLatents) {
  ModelKnobs knobs = knobs_of(5, 6);
  knobs.pi_low = knobs.pi_high = 1e-6;
  expect_all_types(knobs, nullptr, 1, kDouble);
  knobs.pi_high = 0.5;
  Random random(3);
  const Matrix data = 2 * normal_matrix(37, 5, random);  // not noise alone, as the model would draw
  expect_all_types(knobs, &data, 2, kDouble);
}

TEST(HardInference, CertainLatents) {
  ModelKnobs knobs = knobs_of(5, 6);
  knobs.pi_low = knobs.pi_high = 1 - 1e-6;
  expect_all_types(knobs, nullptr, 1, kDouble);
  knobs.pi_low = 0.5;
  expect_all_types(knobs, nullptr, 1, kDouble);
}

TEST(HardInference, CertainAndRareTogether) {
  for (const ModelKnobs& knobs : every_type(4, 5)) {
    Model model = random_model(knobs, 31);
    model.pi << 1e-6, 1 - 1e-6, 0.5, 1e-6, 1 - 1e-6;
    SCOPED_TRACE(describe(knobs));
    const Oracle oracle(model);
    expect_brute_force(model, oracle, random_data(model, 37, 32), truncated(4, 3));
    expect_brute_force(model, oracle, random_data(model, 37, 32), exact());
  }
}

TEST(HardInference, DataLargerThanTheNoise) {
  for (double scale : {1e2, 1e4, 1e6}) expect_all_types(knobs_of(5, 6), nullptr, scale, kDouble);
}

TEST(HardInference, DataSmallerThanTheNoise) {
  for (double scale : {1e-3, 1e-6, 0.0}) expect_all_types(knobs_of(5, 6), nullptr, scale, kDouble);
}

TEST(HardInference, UnitsDoNotMatter) {
  // The same data in other units: everything in y, W and the noise times 1e6 or 1e-6.
  for (double unit : {1e6, 1e-6}) {
    for (const ModelKnobs& knobs : every_type(4, 5)) {
      SCOPED_TRACE(::testing::Message() << describe(knobs) << ", unit " << unit);
      Model model = random_model(knobs, 41);
      const Matrix data = random_data(model, 13, 42, unit);
      model.W *= unit;
      const Matrix noise = unit * unit * model.noise.covariance();
      model.noise = Noise::from_covariance(knobs.noise, noise);
      expect_brute_force(model, Oracle(model), data, truncated(4, 3));
      expect_brute_force(model, Oracle(model), data, exact());
    }
  }
}

TEST(HardInference, LogWeightsBeyondDouble) {
  // Log weights of 1e20 and more have no digits left, those of 1e320 are infinite: there is no right answer, but there
  // must be an end, and infinity must show.
  for (double scale : {1e9, 1e10, 1e12, 1e100, 1e160}) {
    for (const ModelKnobs& knobs : every_type(5, 6)) {
      SCOPED_TRACE(::testing::Message() << describe(knobs) << ", data scale " << scale);
      const Model model = random_model(knobs, 51);
      const MatrixData data(random_data(model, 37, 52, scale));
      for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
        InferenceOptions options = truncated(4, 3);
        options.precision = precision;
        const Statistics sums = e_step(model, data, options);
        if (scale == 1e160) {
          EXPECT_FALSE(std::isfinite(sums.free_energy));
        }
      }
    }
  }
}

TEST(HardInference, SinglePrecision) {
  for (Index H : {1, 3, 6, 8}) expect_all_types(knobs_of(5, H), nullptr, 1, kSingle, Precision::single_precision);
}

TEST(HardInference, SinglePrecisionStaysFinite) {
  for (double scale : {1e6, 1e3, 1e-6}) {
    for (const ModelKnobs& types : every_type(5, 6)) {
      for (double spread : {0.0, 1e-6}) {
        ModelKnobs knobs = types;
        knobs.column_spread = spread;
        knobs.slab_variance = spread > 0 ? 1e4 : 1;
        SCOPED_TRACE(::testing::Message() << describe(knobs) << ", data scale " << scale);
        const Model model = random_model(knobs, 51);
        const MatrixData data(random_data(model, 37, 52, scale));
        InferenceOptions options = truncated(4, 3);
        options.precision = Precision::single_precision;
        const Statistics sums = e_step(model, data, options);
        EXPECT_TRUE(std::isfinite(sums.free_energy));
        EXPECT_TRUE(sums.s.allFinite() && sums.m.allFinite() && sums.YZ.allFinite() && sums.ZZ.allFinite());
        EXPECT_TRUE(sums.lambda.allFinite() && sums.T.allFinite() && sums.SS.allFinite());
        EXPECT_GE(sums.s.minCoeff(), 0);
        EXPECT_LE(sums.s.maxCoeff(), 37 * (1 + 1e-5));
        const Posterior points = infer(model, data, options, {.variance = true, .states = 5, .candidates = false});
        EXPECT_TRUE(points.mean.allFinite() && points.variance.allFinite() && points.log_likelihood.allFinite());
      }
    }
  }
}

TEST(HardInference, SinglePrecisionKnowsTheClearWinner) {
  // Log weights of 1e12 have no digits left in float, but a state that leads by far more than their rounding is
  // certain.
  for (double scale : {1e2, 1e3, 1e4, 1e5, 1e6}) {
    for (const ModelKnobs& knobs : every_type(5, 6)) {
      const Model model = random_model(knobs, 51);
      const Oracle oracle(model);
      const Matrix data = random_data(model, 37, 52, scale);
      for (InferenceOptions options : {truncated(3, 1), truncated(4, 3), exact()}) {
        SCOPED_TRACE(::testing::Message() << describe(knobs) << ", data scale " << scale << ", H'="
                                          << options.candidates << (options.method == Method::exact ? ", exact" : ""));
        options.precision = Precision::single_precision;
        const Posterior got = infer(model, MatrixData(data), options, {.candidates = true});
        const Index max_active = options.method == Method::exact ? 6 : options.max_active;
        int clear = 0;
        for (Index n = 0; n < data.rows(); ++n) {
          const oracle::Vector y = oracle::point(data, n);
          const oracle::States states = oracle::truncated_states(6, candidates_of(got, n), max_active);
          std::vector<oracle::Real> log_joint;
          for (oracle::State state : states) log_joint.push_back(oracle.log_joint(y, state));
          const auto first = std::max_element(log_joint.begin(), log_joint.end());
          const oracle::State winner = states[static_cast<std::size_t>(first - log_joint.begin())];
          const oracle::Real lead = *first;
          *first = -std::numeric_limits<oracle::Real>::infinity();
          const oracle::Real margin = lead - *std::max_element(log_joint.begin(), log_joint.end());
          if (margin < 20 + 8 * oracle.rounding(y, states, kSingle.roundoff)) continue;
          ++clear;
          for (Index h = 0; h < 6; ++h) {
            EXPECT_NEAR(got.probability(n, h), static_cast<double>(winner >> h & 1U), 1e-4)
                << "point " << n << ", " << h;
          }
        }
        EXPECT_GT(clear, 5) << "the case must occur for the test to mean anything";
        if (HasFailure()) return;
      }
    }
  }
}

// Data points with the same candidates may share work inside; the results must not know.

TEST(SharedCandidates, AllLatentsAreCandidates) {
  for (const ModelKnobs& knobs : every_type(5, 6)) {
    SCOPED_TRACE(describe(knobs));
    const Model model = random_model(knobs, 61);
    const Oracle oracle(model);
    const Matrix data = random_data(model, 301, 62);
    for (Index max_active : {1, 2, 4, 6}) expect_brute_force(model, oracle, data, truncated(6, max_active));
    expect_brute_force(model, oracle, data, exact());
  }
}

TEST(SharedCandidates, ManyCopiesOfFewPoints) {
  for (const ModelKnobs& knobs : every_type(5, 7)) {
    for (Index distinct : {1, 3, 20}) {
      SCOPED_TRACE(::testing::Message() << describe(knobs) << ", " << distinct << " distinct points");
      const Model model = random_model(knobs, 71);
      const Matrix few = random_data(model, distinct, 72);
      Matrix data(409, 5);
      for (Index n = 0; n < data.rows(); ++n) data.row(n) = few.row(n * n % distinct);
      for (Selection selection : kSelections) {
        expect_brute_force(model, Oracle(model), data, truncated(4, 3, selection));
        if (HasFailure()) return;
      }
    }
  }
}

TEST(SharedCandidates, ClustersOfEverySize) {
  // Points near a few centres: candidate sets recur 1, 2, 3, ... times, full SIMD groups and remainders both occur.
  for (const ModelKnobs& knobs : every_type(6, 8)) {
    SCOPED_TRACE(describe(knobs));
    const Model model = random_model(knobs, 81);
    const Matrix centres = random_data(model, 25, 82);
    Random random(83);
    Matrix data(25 * 26 / 2, 6);
    Index n = 0;
    for (Index c = 0; c < 25; ++c) {
      for (Index copy = 0; copy <= c; ++copy) {
        data.row(n++) = centres.row(c) + 1e-3 * normal_matrix(1, 6, random);
      }
    }
    for (Precision precision : {Precision::double_precision, Precision::single_precision}) {
      InferenceOptions options = truncated(3, 3);
      options.precision = precision;
      expect_brute_force(model, Oracle(model), data, options,
                         precision == Precision::double_precision ? kDouble : kSingle);
    }
  }
}

}  // namespace
}  // namespace gsc::test
