// Learning from data with missing values: the M-step by its gradient, EM by its free energy.

#include <gsc/fit.h>
#include <gsc/missing.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "distributed_support.h"
#include "expect_error.h"
#include "inference/statistics_shapes.h"
#include "inference_check.h"
#include "random_model.h"
#include "truncated/gap_m_step.h"

namespace gsc::test {
namespace {

using oracle::Real;

Matrix holes(Matrix data, double part, std::uint64_t seed) {
  Random random(seed);
  std::uniform_real_distribution<double> uniform;
  for (Index n = 0; n < data.rows(); ++n)
    for (double& value : data.row(n))
      if (n % 6 != 2 && uniform(random) < part) value = std::numeric_limits<double>::quiet_NaN();
  return data;
}

std::vector<ModelKnobs> types_to_learn() {
  std::vector<ModelKnobs> all = every_type(5, 4);
  std::erase_if(all, [](const ModelKnobs& knobs) { return knobs.noise == NoiseType::full; });
  return all;
}

FitOptions options_like(const ModelKnobs& knobs, int iterations) {
  FitOptions options;
  options.latents = knobs.latents;
  options.noise = knobs.noise;
  options.slab = knobs.slab;
  options.intercept = knobs.intercept ? Intercept::learned : Intercept::none;
  options.inference = exact();
  options.inference.missing = Missing::nan;
  options.iterations = iterations;
  options.tolerance = 0;
  return options;
}

/// What the M-step maximises, of the entries that were observed.
Real expected_log_joint(const Model& old, const oracle::Parameters& theta, const Matrix& data) {
  Real total = 0;
  for (Index n = 0; n < data.rows(); ++n) {
    const std::vector<Index> seen = oracle::observed_dimensions(data, n);
    const oracle::Oracle of(oracle::Parameters(old).observed(seen));
    Matrix y(1, static_cast<Index>(seen.size()));
    for (std::size_t i = 0; i < seen.size(); ++i) y(0, static_cast<Index>(i)) = data(n, seen[i]);
    total += of.expected_log_joint(theta.observed(seen), y, oracle::every_state(old.latents()));
  }
  return total;
}

class GapLearningTypes : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, GapLearningTypes, ::testing::ValuesIn(types_to_learn()),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(GapLearningTypes, MStepHasNoGradientLeft) {
  ModelKnobs knobs = GetParam();
  knobs.latents = 3;
  knobs.dimensions = 4;
  const Model model = random_model(knobs, 101);
  const Matrix data = holes(random_data(random_model(knobs, 102), 40, 103), 0.4, 104);
  InferenceOptions options = exact();
  options.missing = Missing::nan;
  Rescues rescues;
  const Model next = m_step(model, e_step(model, MatrixData(data), options), {}, rescues);
  EXPECT_EQ(rescues.total(), 0);
  const oracle::Parameters at(next);
  const Real step = 1e-5L;
  const auto slope = [&](const std::function<void(oracle::Parameters&, Real)>& move) {
    oracle::Parameters up = at, down = at;
    move(up, step);
    move(down, -step);
    const Real higher = expected_log_joint(model, up, data), lower = expected_log_joint(model, down, data);
    return (higher - lower) / (2 * step);
  };
  for (Index d = 0; d < 4; ++d) {
    for (Index h = 0; h < 3; ++h)
      EXPECT_LT(std::abs(slope([&](oracle::Parameters& to, Real by) { to.W(d, h) += by; })), 1e-5L) << d << ", " << h;
    if (knobs.intercept) {
      EXPECT_LT(std::abs(slope([&](oracle::Parameters& to, Real by) { to.b[d] += by; })), 1e-5L) << d;
    }
    if (knobs.noise == NoiseType::diagonal) {
      EXPECT_LT(std::abs(slope([&](oracle::Parameters& to, Real by) { to.Sigma(d, d) += by; })), 1e-5L) << d;
    }
  }
  if (knobs.noise == NoiseType::scalar) {
    EXPECT_LT(std::abs(slope([&](oracle::Parameters& to, Real by) { to.Sigma.diagonal().array() += by; })), 1e-5L);
  }
  for (Index h = 0; h < 3; ++h)
    EXPECT_LT(std::abs(slope([&](oracle::Parameters& to, Real by) { to.pi[h] += by; })), 1e-5L) << h;
}

/// With all the sums, and with D x H of them and long steps.
TEST_P(GapLearningTypes, FreeEnergyNeverFalls) {
  const ModelKnobs& knobs = GetParam();
  for (const double part : {0.2, 0.7}) {
    Matrix values = holes(random_data(random_model(knobs, 111), 300, 112), part, 113);
    values.row(5).setConstant(std::numeric_limits<double>::quiet_NaN());
    const MatrixData data(values);
    Model reached = random_model(knobs, 114);
    for (const Index memory : {1024, 0}) {
      SCOPED_TRACE(::testing::Message() << part << " missing, gap_memory " << memory);
      FitOptions options = options_like(knobs, 60);
      options.inference.gap_memory = memory;
      const FitResult result = fit(data, options, nullptr, random_model(knobs, 114));
      for (const IterationReport& row : result.state.history) EXPECT_FALSE(row.dip) << "iteration " << row.iteration;
      EXPECT_GT(result.last().free_energy, result.state.history.front().free_energy + 100);
      if (memory > 0) reached = result.model();
    }
    // Where one way has nearly arrived, the other goes on alike.
    FitOptions options = options_like(knobs, 10);
    const double rows = fit(data, options, nullptr, reached).last().free_energy;
    options.inference.gap_memory = 0;
    const double latent = fit(data, options, nullptr, reached).last().free_energy;
    EXPECT_NEAR(latent, rows, 2e-3 * std::abs(rows));
  }
}

TEST_P(GapLearningTypes, WithoutGapsItIsAsEver) {
  const ModelKnobs& knobs = GetParam();
  const MatrixData data(random_data(random_model(knobs, 121), 200, 122));
  FitOptions options = options_like(knobs, 10);
  const FitResult with = fit(data, options);
  options.inference.missing = Missing::error;
  const FitResult without = fit(data, options);
  EXPECT_NEAR(with.last().free_energy, without.last().free_energy, 1e-9 * std::abs(without.last().free_energy));
  EXPECT_LT((with.model().W - without.model().W).cwiseAbs().maxCoeff(), 1e-6);
}

class NoteWatcher final : public Watcher {
 public:
  void on_note(const std::string& note) override { notes += note + "\n"; }
  std::string notes;
};

TEST(GapLearning, ColumnsWithoutAnyValueStayAndAreNamed) {
  ModelKnobs knobs;
  knobs.dimensions = 6;
  knobs.noise = NoiseType::diagonal;
  knobs.intercept = true;
  const Model start = random_model(knobs, 131);
  Matrix values = holes(random_data(random_model(knobs, 132), 200, 133), 0.3, 134);
  values.col(2).setConstant(std::numeric_limits<double>::quiet_NaN());
  values.col(5).setConstant(std::numeric_limits<double>::quiet_NaN());
  for (const Index memory : {1024, 0}) {
    FitOptions options = options_like(knobs, 5);
    options.inference.gap_memory = memory;
    NoteWatcher watcher;
    const FitResult result = fit(MatrixData(values), options, &watcher, start);
    expect_says(watcher.notes, {"columns 2, 5", "no value at all", "stays as it was"});
    for (const Index d : {2, 5}) {
      EXPECT_EQ(result.model().W.row(d), start.W.row(d));
      EXPECT_EQ(result.model().intercept[d], start.intercept[d]);
      EXPECT_EQ(result.model().noise.values()(d, 0), start.noise.values()(d, 0));
    }
    EXPECT_NE(result.model().W.row(0), start.W.row(0));
    EXPECT_GT(result.last().free_energy, result.state.history.front().free_energy);
  }
  values.setConstant(std::numeric_limits<double>::quiet_NaN());
  expect_error<Error>([&] { fit(MatrixData(values, "holes.npy"), options_like(knobs, 5)); },
                      {"holes.npy", "every value is missing"});
}

TEST(GapLearning, RefusalsSayWhatToDo) {
  const MatrixData data(random_data(random_model({}, 141), 50, 142));
  FitOptions options = options_like({}, 5);
  options.noise = NoiseType::full;
  expect_error<UsageError>([&] { fit(data, options); }, {"missing is nan", "noise is full", "scalar or diagonal"});
  options = options_like({}, 5);
  options.noise_update = Update::paper;
  options.intercept = Intercept::none;
  expect_error<UsageError>([&] { fit(data, options); }, {"noise_update is paper", "exact"});
}

/// A start drawn from data with holes, in batches and without, resumed, by a team, on several threads.
TEST(GapLearning, StartsBatchesTeamsAndResuming) {
  ModelKnobs knobs;
  knobs.dimensions = 8;
  knobs.latents = 12;
  knobs.pi_low = knobs.pi_high = 0.2;
  knobs.intercept = true;
  const Matrix values = holes(random_data(random_model(knobs, 151), 900, 152), 0.5, 153);
  const MatrixData data(values);
  for (const Index memory : {1024, 0})
    for (const Index batch : {0, 150}) {
      SCOPED_TRACE(::testing::Message() << "gap_memory " << memory << ", batch " << batch);
      FitOptions options = options_like(knobs, 8);
      options.inference = truncated(6, 3, Selection::conditional);
      options.inference.missing = Missing::nan;
      options.inference.gap_memory = memory;
      options.batch = batch;
      const FitResult whole = fit(data, options);
      EXPECT_GT(whole.last().free_energy, whole.state.history.front().free_energy + 200);

      options.iterations = 5;
      if (batch > 0) options.polish = 0;
      FitResult part = fit(data, options);
      options.iterations = 8;
      const FitResult resumed = resume(data, options, part.state);
      const FitResult at_once = fit(data, options);
      EXPECT_TRUE(resumed.model() == at_once.model()) << "the same bits";

      FitOptions threaded = options;
      threaded.inference.threads = 3;
      const double alone = at_once.last().free_energy;
      EXPECT_NEAR(fit(data, threaded).last().free_energy, alone, 1e-6 * std::abs(alone));
      if (batch > 0) continue;  // a team's batches are others
      run_ranks(3, 0, [&](Team& team) {
        FitOptions shared = options;
        shared.sharing.team = &team;
        EXPECT_NEAR(fit(data, shared).last().free_energy, alone, 1e-6 * std::abs(alone));
      });
    }
}

/// Long enough for sums that are running to run away: their W are not the one that is learned.
TEST(GapLearning, BatchesWithFewSumsEndWhereThoseOfRowsDo) {
  ModelKnobs knobs;
  knobs.dimensions = 12;
  knobs.latents = 8;
  knobs.pi_low = knobs.pi_high = 0.25;
  knobs.intercept = true;
  knobs.noise_std = 0.3;
  for (const double part : {0.2, 0.6})
    for (const Index batch : {20, 100, 300}) {
      SCOPED_TRACE(::testing::Message() << part << " missing, batch " << batch);
      const MatrixData data(holes(random_data(random_model(knobs, 171), 1500, 172), part, 173));
      FitOptions options = options_like(knobs, 15);
      options.inference = truncated(6, 4, Selection::conditional);
      options.inference.missing = Missing::nan;
      options.batch = batch;
      Model start = random_model(knobs, 171);  // so that both find the same maximum
      start.W += 0.2 * random_data(random_model(knobs, 174), 8, 175).transpose();
      const FitResult rows = fit(data, options, nullptr, start);
      options.inference.gap_memory = 0;
      const FitResult few = fit(data, options, nullptr, start);
      EXPECT_NEAR(few.last().noise_std, rows.last().noise_std, 0.03 * rows.last().noise_std);
      EXPECT_NEAR(few.last().free_energy, rows.last().free_energy, 0.01 * std::abs(rows.last().free_energy));
    }
}

/// Without gaps the completed table is the table.
TEST(GapLearning, CompletedSumsWithoutGapsAreTheSums) {
  ModelKnobs knobs;
  knobs.intercept = true;
  const Model model = random_model(knobs, 181);
  Matrix values = random_data(random_model(knobs, 182), 50, 183);
  InferenceOptions options = exact();
  const Statistics whole = e_step(model, MatrixData(values), options);
  options.missing = Missing::nan;
  options.gap_memory = 0;
  Statistics sums = e_step(model, MatrixData(values), options);
  add_missing_products(sums, options);
  const Statistics same = completed(model, sums, 1.5);
  EXPECT_EQ(same.YZ, whole.YZ);
  EXPECT_EQ(same.YY, whole.YY);
  EXPECT_EQ(same.y, whole.y);

  // Of a column without any value they say what the model says already.
  values.col(1).setConstant(std::numeric_limits<double>::quiet_NaN());
  Rescues rescues;
  const Model next = m_step(model, completed(model, e_step(model, MatrixData(values), options), 1.5), {}, rescues);
  EXPECT_LT((next.W.row(1) - model.W.row(1)).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_NEAR(next.intercept[1], model.intercept[1], 1e-10);
}

TEST(GapLearning, HardlyObservedColumnsHaveTheNoiseOfTheOthers) {
  ModelKnobs knobs;
  knobs.dimensions = 6;
  knobs.noise = NoiseType::diagonal;
  knobs.intercept = true;
  Matrix values = holes(random_data(random_model(knobs, 191), 200, 192), 0.3, 193);
  values.col(2).setConstant(std::numeric_limits<double>::quiet_NaN());
  values.col(4) = values.col(2);
  values(17, 2) = 1;
  values(30, 4) = 2;
  values(31, 4) = -1;
  for (const Index memory : {1024, 0})
    for (const Index batch : {0, 50}) {
      FitOptions options = options_like(knobs, 20);
      options.inference.gap_memory = memory;
      options.batch = batch;
      NoteWatcher watcher;
      const Matrix noise = fit(MatrixData(values), options, &watcher).model().noise.values();
      expect_says(watcher.notes, {"columns 2, 4 (from 0)", "no more values than the 5 numbers", "mean of the others"});
      const double others = (noise(0, 0) + noise(1, 0) + noise(3, 0) + noise(5, 0)) / 4;
      EXPECT_NEAR(noise(2, 0), others, 1e-12);
      EXPECT_NEAR(noise(4, 0), others, 1e-12);
    }
}

/// Nobody wants such a model. This one is far too large from the start, and has no time to become smaller.
TEST(GapLearning, NoiseThatHasRunAwayIsAnError) {
  const Matrix values = holes(random_data(random_model({}, 201), 100, 202), 0.3, 203);
  Model start = random_model({}, 204);
  start.W *= 1e6;
  start.noise = Noise::scalar(1e12, values.cols());
  FitOptions options = options_like({}, 1);
  options.inference.gap_memory = 0;
  expect_error<Error>([&] { fit(MatrixData(values), options, nullptr, start); },
                      {"has grown to", "learning has run away"});
}

/// Sums over what is missing are made where something is missing, and ranks that miss nothing add to those that do.
TEST(GapLearning, OnlyOneRankOrBatchHasGaps) {
  ModelKnobs knobs;
  knobs.dimensions = 8;
  knobs.latents = 12;
  knobs.pi_low = knobs.pi_high = 0.2;
  Matrix values = random_data(random_model(knobs, 161), 900, 162);
  InferenceOptions inference = truncated(6, 3, Selection::conditional);
  inference.missing = Missing::nan;
  EXPECT_EQ(e_step(random_model(knobs, 161), MatrixData(values), inference).missing_ZZ.size(), 0);
  values.bottomRows(100) = holes(values.bottomRows(100), 0.5, 163);
  const MatrixData data(values);
  for (const Index memory : {1024, 0}) {
    SCOPED_TRACE(::testing::Message() << "gap_memory " << memory);
    FitOptions options = options_like(knobs, 8);
    options.inference = inference;
    options.inference.gap_memory = memory;
    const double alone = fit(data, options).last().free_energy;
    run_ranks(3, 0, [&](Team& team) {
      FitOptions shared = options;
      shared.sharing.team = &team;
      EXPECT_NEAR(fit(data, shared).last().free_energy, alone, 1e-6 * std::abs(alone));
    });
    options.batch = 60;
    options.polish = 0;
    const FitResult batches = fit(data, options);
    EXPECT_GT(batches.last().free_energy, batches.state.history.front().free_energy);
    options.iterations = 4;
    FitResult part = fit(data, options);
    options.iterations = 8;
    EXPECT_TRUE(resume(data, options, part.state).model() == fit(data, options).model()) << "the same bits";
  }
}

}  // namespace
}  // namespace gsc::test
