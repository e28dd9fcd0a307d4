// Learning on the device, on the emulation or (gsc_gpu_tests) on a GPU: its M-step against that of the CPU, and whole
// runs of fit().

#include <gsc/backend/resident_em.h>
#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <cmath>

#include "cuda_support.h"
#include "learning/m_step_parts.h"

namespace gsc::test {
namespace {

class LearningOnADevice : public OnADevice {};

double difference(const Matrix& got, const Matrix& expected) {
  if (got.size() == 0 && expected.size() == 0) return 0;
  return (got - expected).cwiseAbs().maxCoeff() / std::max(1e-300, expected.cwiseAbs().maxCoeff());
}

void expect_same_model(const Model& got, const Model& expected, double allowed) {
  EXPECT_LT(difference(got.W, expected.W), allowed);
  EXPECT_LT(difference(got.intercept, expected.intercept), allowed);
  EXPECT_LT(difference(got.pi, expected.pi), allowed);
  EXPECT_LT(difference(got.mu, expected.mu), allowed);
  EXPECT_LT(difference(got.slab.values(), expected.slab.values()), allowed);
  EXPECT_EQ(got.noise.type(), expected.noise.type());
  EXPECT_LT(difference(got.noise.values(), expected.noise.values()), allowed);
}

void expect_same_rescues(const Rescues& got, const Rescues& expected) {
  EXPECT_EQ(got.unused_latents, expected.unused_latents);
  EXPECT_EQ(got.floored_pi, expected.floored_pi);
  EXPECT_EQ(got.floored_slab, expected.floored_slab);
  EXPECT_EQ(got.floored_noise, expected.floored_noise);
  EXPECT_EQ(got.total(), expected.total());
}

TEST_F(LearningOnADevice, AnIterationIsThatOfTheCpu) {
  for (const ModelKnobs& knobs : diagonal_slabs(6, 40)) {
    for (const bool learn_intercept : {true, false}) {
      SCOPED_TRACE(::testing::Message() << knobs << (learn_intercept ? "" : ", intercept held"));
      const Model model = random_model(knobs, 1);
      const MatrixData data(random_data(model, 700, 2));
      const InferenceOptions options = truncated(5, 3);
      const std::unique_ptr<Engine> engine = make_engine(data, on_device(options));
      ResidentEm* resident = engine->resident(model, {.learn_intercept = learn_intercept});
      ASSERT_NE(resident, nullptr);
      resident->start(model);
      const ResidentRow row = resident->e_step({});
      const Statistics sums = e_step(model, data, options);
      EXPECT_NEAR(row.free_energy / sums.free_energy, 1, 1e-11);
      EXPECT_EQ(row.count, 700);
      EXPECT_LT(difference(row.s, sums.s), 1e-11);
      EXPECT_NEAR(row.noise_variance / model.noise.mean_variance(), 1, 1e-14);

      Rescues rescues;
      const Model expected = m_step(model, sums, {.learn_intercept = learn_intercept}, rescues);
      resident->m_step({});
      expect_same_model(resident->model(), expected, 1e-11 * 100);  // sums differ by 1e-11, W by their condition
      const ResidentRow judged = resident->e_step({});
      expect_same_rescues(judged.rescues, rescues);
      EXPECT_NEAR(judged.free_energy / e_step(expected, data, options).free_energy, 1, 1e-11);
      EXPECT_NEAR(judged.noise_variance / expected.noise.mean_variance(), 1, 1e-11);
      resident->take_back();
      EXPECT_EQ(resident->model(), model);
    }
  }
}

/// From the same sums, so that nothing but the M-step differs.
void expect_m_step(const Model& model, const Statistics& sums, double allowed = 1e-11) {
  const MatrixData data(Matrix::Zero(4, model.dimensions()));
  const std::unique_ptr<Engine> engine = make_engine(data, on_device(truncated(2, 2)));
  ResidentEm* resident = engine->resident(model, {});
  resident->start(model);
  resident->set_running(sums);
  resident->m_step({.of_running = true});
  Rescues rescues;
  const Model expected = m_step(model, sums, {}, rescues);
  expect_same_model(resident->model(), expected, allowed);
  expect_same_rescues(resident->rescues(), rescues);
  Statistics moved = sums;
  if (model.intercept.size() > 0) move_intercept(moved, expected.intercept - model.intercept);
  EXPECT_LT(relative_difference(resident->running(), moved), allowed);
}

TEST_F(LearningOnADevice, TheMStepIsThatOfTheCpu) {
  for (const ModelKnobs& knobs : diagonal_slabs(7, 45)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const Model model = random_model(knobs, 3);
    expect_m_step(model, e_step(model, MatrixData(random_data(model, 900, 4)), truncated(5, 3)));
  }
}

TEST_F(LearningOnADevice, RescuesAreThoseOfTheCpu) {
  for (const ModelKnobs& knobs : diagonal_slabs(5, 8)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const Model model = random_model(knobs, 5);
    const Statistics sums = e_step(model, MatrixData(random_data(model, 400, 6)), truncated(4, 3));
    {  // nobody uses two latents, of which one has left something
      Statistics unused = sums;
      unused.s[2] = unused.m[2] = 0;
      unused.ZZ.row(2).setZero();
      unused.ZZ.col(2).setZero();
      unused.s[5] = 1e-8 * unused.count;
      expect_m_step(model, unused);
    }
    {  // one is always on, and always alike: what the intercept is
      Statistics always = sums;
      always.s[3] = always.m[3] = always.count;
      always.ZZ.row(3) = always.ZZ.col(3) = always.m;
      always.ZZ(3, 3) = always.count;
      if (model.intercept.size() > 0) always.YZ.col(3) = always.y;
      expect_m_step(model, always, 1e-9);
    }
    {  // no noise is left
      Statistics exact = sums;
      const Matrix WZZ = model.W * exact.ZZ;
      exact.YZ = WZZ;
      if (exact.y.size() > 0) exact.y = model.W * exact.m;
      const Matrix YY = WZZ * model.W.transpose();
      exact.YY = exact.YY.cols() > 1 ? YY : Matrix(YY.diagonal());
      // What is left is rounding, of any sign: the floor may be met or not, but never passed.
      const MatrixData none(Matrix::Zero(4, model.dimensions()));
      const std::unique_ptr<Engine> engine = make_engine(none, on_device(truncated(2, 2)));
      ResidentEm* resident = engine->resident(model, {});
      resident->start(model);
      resident->set_running(exact);
      resident->m_step({.of_running = true});
      const Noise noise = resident->model().noise;
      EXPECT_GT(noise.values().diagonal().minCoeff(), 0);
      EXPECT_LT(noise.mean_variance(), 1e-8 * YY.trace() / exact.count);
    }
  }
}

/// Two latents that are always together: ZZ is singular, and the ridge decides.
TEST_F(LearningOnADevice, SingularSumsKeepWNearWhereItWas) {
  const Model model = random_model({.dimensions = 5, .latents = 6}, 7);
  Statistics sums = e_step(model, MatrixData(random_data(model, 300, 8)), truncated(4, 3));
  for (Vector* vector : {&sums.s, &sums.m}) (*vector)[1] = (*vector)[0];
  sums.ZZ.row(1) = sums.ZZ.row(0);
  sums.ZZ.col(1) = sums.ZZ.col(0);
  sums.ZZ(1, 1) = sums.ZZ(0, 0);
  sums.YZ.col(1) = sums.YZ.col(0);
  expect_m_step(model, sums, 1e-5);  // the equations have a condition number of 1e9
}

FitOptions options_of(Index batch, NoiseType noise, Intercept intercept) {
  FitOptions options;
  options.latents = 8;
  options.inference = truncated(5, 3);
  options.iterations = 6;
  options.batch = batch;
  options.polish = 2;
  options.tolerance = 0;
  options.noise = noise;
  options.intercept = intercept;
  return options;
}

struct Recorder final : Watcher {
  std::vector<FitState> states;
  bool needs_method_state(const FitState&) override { return true; }
  void on_iteration(const FitState& state) override { states.push_back(state); }
};

TEST_F(LearningOnADevice, FitsAndResumesAsOnTheCpu) {
  const Model truth = random_model({.dimensions = 6, .latents = 8, .pi_high = 0.4}, 3);
  const MatrixData data(random_data(truth, 300, 4));
  for (const Index batch : {0, 60})
    for (const NoiseType noise : {NoiseType::scalar, NoiseType::diagonal, NoiseType::full})
      for (const Intercept intercept : {Intercept::learned, Intercept::mean, Intercept::none})
        for (const double known : {0.0, 0.5}) {
          if (known > 0 && noise != NoiseType::scalar) continue;
          SCOPED_TRACE(::testing::Message() << "batch " << batch << ", noise " << to_string(noise) << ", intercept "
                                            << to_string(intercept) << ", known " << known);
          FitOptions options = options_of(batch, noise, intercept);
          options.sigma = known;
          const FitResult expected = fit(data, options);
          options.inference.device = "device";
          Recorder recorder;
          const FitResult got = fit(data, options, &recorder);
          ASSERT_EQ(got.state.history.size(), expected.state.history.size());
          for (std::size_t t = 0; t < got.state.history.size(); ++t) {
            const IterationReport &mine = got.state.history[t], &theirs = expected.state.history[t];
            EXPECT_NEAR(mine.free_energy / theirs.free_energy, 1, 1e-10) << t;
            EXPECT_NEAR(mine.noise_std / theirs.noise_std, 1, 1e-9) << t;
            EXPECT_NEAR(mine.mean_active / theirs.mean_active, 1, 1e-9) << t;
            EXPECT_EQ(mine.latents_in_use, theirs.latents_in_use) << t;
            EXPECT_EQ(mine.rescues, theirs.rescues) << t;
            EXPECT_EQ(mine.estimated, theirs.estimated) << t;
          }
          expect_same_model(got.model(), expected.model(), 1e-7);
          // The same bits without a watcher, who has the model brought after each row, and after a stop at any row.
          EXPECT_EQ(fit(data, options).model(), got.model());
          for (const std::size_t row : {1U, 4U})
            EXPECT_EQ(resume(data, options, recorder.states[row]).model(), got.model()) << row;
        }
}

TEST_F(LearningOnADevice, AStopLeavesTheLastCompleteRow) {
  struct Stopper final : Watcher {
    int rows = 0;
    void on_iteration(const FitState&) override { ++rows; }
    bool stop_requested() override { return rows == 3; }
  };
  const Model truth = random_model({.dimensions = 6, .latents = 8, .pi_high = 0.4}, 3);
  const MatrixData data(random_data(truth, 300, 4));
  for (const Index batch : {0, 60}) {
    FitOptions options = options_of(batch, NoiseType::scalar, Intercept::learned);
    options.inference.device = "device";
    Stopper stopper;
    Recorder recorder;
    const FitResult all = fit(data, options, &recorder), stopped = fit(data, options, &stopper);
    EXPECT_EQ(stopped.reason, StopReason::interrupted);
    ASSERT_EQ(stopped.state.history.size(), 3U);
    EXPECT_EQ(stopped.model(), recorder.states[2].model);
    EXPECT_EQ(resume(data, options, stopped.state).model(), all.model());
  }
}

/// The paper's noise update and several processes go on with sums on the CPU.
TEST_F(LearningOnADevice, WhatItDoesNotHaveIsLeftToTheCpu) {
  const Model model = random_model({.dimensions = 6, .latents = 8}, 3);
  const MatrixData data(random_data(model, 100, 4));
  const std::unique_ptr<Engine> engine = make_engine(data, on_device(truncated(5, 3)));
  EXPECT_EQ(engine->resident(model, {.noise_update = Update::paper}), nullptr);
  EXPECT_EQ(make_engine(data, truncated(5, 3))->resident(model, {}), nullptr);
  FitOptions options = options_of(0, NoiseType::scalar, Intercept::mean);
  options.noise_update = Update::paper;
  struct Listener final : Watcher {
    std::vector<std::string> notes;
    void on_note(const std::string& note) override { notes.push_back(note); }
  } here, there;
  const FitResult expected = fit(data, options, &here);
  options.inference.device = "device";
  EXPECT_NEAR(fit(data, options, &there).last().free_energy / expected.last().free_energy, 1, 1e-9);
  ASSERT_EQ(there.notes.size(), here.notes.size() + 1);  // the user is told
  EXPECT_NE(there.notes.back().find("M-steps on the cpu, as noise_update is paper"), std::string::npos);
}

}  // namespace
}  // namespace gsc::test
