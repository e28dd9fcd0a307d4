// Learning: exact EM never lowers the free energy, resumes to the bit, and survives what real data does to it.

#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "expect_error.h"
#include "inference_check.h"
#include "oracle.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::Oracle;
using oracle::Real;

class Learning : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, Learning, ::testing::ValuesIn(every_type(4, 3)),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(Learning, ExactEMNeverLowersTheFreeEnergy) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    ModelKnobs knobs = GetParam();
    knobs.dimensions = static_cast<Index>(3 + seed % 4);
    knobs.latents = static_cast<Index>(3 + seed % 3);
    Random random(seed);
    const Matrix data = sample(random_model(knobs, seed), 200, random).data;
    FitOptions options;
    options.latents = knobs.latents;
    options.inference = exact();
    options.noise = knobs.noise;
    options.slab = knobs.slab;
    options.intercept = knobs.intercept ? Intercept::learned : Intercept::none;
    options.init = Init::random;
    options.iterations = 50;
    options.tolerance = 0;
    options.seed = seed;
    const FitResult result = fit(MatrixData(data), options);
    ASSERT_EQ(result.state.history.size(), 51U);
    EXPECT_EQ(result.reason, StopReason::iterations);
    for (std::size_t t = 1; t < result.state.history.size(); ++t) {
      const double before = result.state.history[t - 1].free_energy;
      EXPECT_GE(result.state.history[t].free_energy, before - 1e-9 * std::abs(before)) << "iteration " << t;
      EXPECT_FALSE(result.state.history[t].dip) << "iteration " << t;
    }
    EXPECT_GT(result.last().free_energy, result.state.history.front().free_energy + 10) << "it must learn";
    const Real likelihood = Oracle(result.model()).free_energy(data, oracle::every_state(knobs.latents));
    EXPECT_NEAR(result.last().free_energy / static_cast<double>(likelihood), 1, 1e-10);
    if (HasFailure()) return;
  }
}

TEST_P(Learning, PaperNoiseIsThePrintedFormula) {
  const Model model = random_model(GetParam(), 33);
  const Matrix data = random_data(model, 37, 34);
  InferenceOptions options = exact();
  options.mean_products = true;
  const Statistics sums = e_step(model, MatrixData(data), options);
  Rescues rescues;
  const Model next = m_step(model, sums, {.noise_update = Update::paper, .learn_intercept = false}, rescues);
  const Model exact_next = m_step(model, sums, {}, rescues);
  // 1/N sum [ y y' - W <sz><sz>' W' ], eq. EqnMStepSigma, with the new W.
  const oracle::Sums expected = Oracle(model).sums(data, oracle::every_state(3));
  const oracle::Matrix W = next.W.cast<Real>();
  const oracle::Matrix printed = (expected.YY - W * expected.MM * W.transpose()) / expected.count;
  const oracle::Matrix got = next.noise.covariance().cast<Real>();
  switch (model.noise.type()) {
    case NoiseType::scalar:
      EXPECT_NEAR(static_cast<double>(got(0, 0)), static_cast<double>(printed.trace() / 4), 1e-9);
      break;
    case NoiseType::diagonal:
      EXPECT_LT((got.diagonal() - printed.diagonal()).cwiseAbs().maxCoeff(), 1e-9L);
      break;
    case NoiseType::full:
      EXPECT_LT((got - printed).cwiseAbs().maxCoeff(), 1e-9L);
      break;
  }
  EXPECT_GT(next.noise.mean_variance(), exact_next.noise.mean_variance()) << "the misprint over-estimates the noise";
  EXPECT_LT((expected.MM - sums.MM.cast<Real>()).cwiseAbs().maxCoeff(), 1e-10L * expected.MM.maxCoeff());

  const Statistics without = e_step(model, MatrixData(data), exact());
  EXPECT_EQ(without.MM.size(), 0);
  expect_error<UsageError>(
      [&] {
        m_step(model, without, {.noise_update = Update::paper, .learn_intercept = false}, rescues);
      },  // never another
      {"noise_update is paper", "without mean_products", "set it for the E-step"});
  FitOptions fit_options;
  fit_options.latents = 3;
  fit_options.inference = exact();
  fit_options.noise = model.noise.type();
  fit_options.slab = model.slab.type();
  fit_options.noise_update = Update::paper;
  fit_options.intercept = Intercept::none;
  fit_options.iterations = 1;
  if (model.intercept.size() > 0) return;  // the mean of the data is another
  const FitResult one = fit(MatrixData(data), fit_options, nullptr, model);
  EXPECT_LT((one.model().noise.covariance() - next.noise.covariance()).cwiseAbs().maxCoeff(), 1e-12);
}

TEST_P(Learning, PaperSlabIsUsable) {
  const Model model = random_model(GetParam(), 43);
  const Matrix data = random_data(model, 37, 44);
  const Statistics sums = e_step(model, MatrixData(data), exact());
  Rescues rescues;
  const Model next = m_step(model, sums, {.slab_update = Update::paper}, rescues);
  const Matrix psi = next.slab.covariance();
  EXPECT_TRUE(psi.allFinite());
  EXPECT_EQ(Eigen::LLT<Matrix>(psi).info(), Eigen::Success);
  EXPECT_NO_THROW(next.validate());
  // Where it is printed right, it is the exact update: the mean, and a diagonal slab's variances.
  EXPECT_LT((next.mu - sums.m.cwiseQuotient(sums.s)).cwiseAbs().maxCoeff(), 1e-10);
  if (model.slab.type() == SlabType::diagonal) {
    EXPECT_LT((psi - m_step(model, sums, {}, rescues).slab.covariance()).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST_P(Learning, ResumingGivesTheSameBits) {
  const Matrix data = random_data(random_model(GetParam(), 53), 300, 54);
  FitOptions options;
  options.latents = 5;
  options.inference = truncated(4, 2, Selection::conditional, 2);
  options.noise = GetParam().noise;
  options.slab = GetParam().slab;
  options.iterations = 10;
  options.tolerance = 0;
  const FitResult whole = fit(MatrixData(data), options);
  options.iterations = 5;
  const FitResult half = fit(MatrixData(data), options);
  ASSERT_EQ(half.state.history.size(), 6U);
  options.iterations = 10;
  const FitResult both = resume(MatrixData(data), options, half.state);
  ASSERT_EQ(both.state.history.size(), whole.state.history.size());
  for (std::size_t t = 0; t < whole.state.history.size(); ++t) {
    EXPECT_EQ(both.state.history[t].free_energy, whole.state.history[t].free_energy) << "iteration " << t;
  }
  EXPECT_EQ(both.model().W, whole.model().W);
  EXPECT_EQ(both.model().pi, whole.model().pi);
  EXPECT_EQ(both.model().mu, whole.model().mu);
  EXPECT_EQ(both.model().slab.values(), whole.model().slab.values());
  EXPECT_EQ(both.model().noise.values(), whole.model().noise.values());
  EXPECT_NE(half.model().W, whole.model().W) << "five iterations must not be ten";
}

void expect_finite(const FitResult& result) {
  EXPECT_NO_THROW(result.model().validate());
  std::int64_t reported = 0;
  for (const IterationReport& row : result.state.history) {
    EXPECT_TRUE(std::isfinite(row.free_energy)) << "iteration " << row.iteration;
    reported += row.rescues;
  }
  EXPECT_EQ(reported, result.state.rescues.total()) << "rescues must be in the history";
}

TEST_P(Learning, UnusedLatentsAreKeptAndCounted) {
  ModelKnobs knobs = GetParam();
  knobs.latents = 6;
  Model start = random_model(knobs, 63);
  start.W.col(1) = start.W.col(0);  // twins
  start.W.col(4).setZero();         // explains nothing
  start.W.col(5) *= 1e-3;
  start.pi.tail(2).setConstant(1e-7);
  const Matrix data = random_data(random_model(GetParam(), 64), 150, 65);
  FitOptions options;
  options.latents = 6;
  options.noise = knobs.noise;
  options.slab = knobs.slab;
  options.iterations = 20;
  options.tolerance = 0;
  for (const InferenceOptions& inference : {exact(), truncated(4, 3)}) {
    options.inference = inference;
    const FitResult result = fit(MatrixData(data), options, nullptr, start);
    expect_finite(result);
    EXPECT_GT(result.state.rescues.unused_latents, 0);
    EXPECT_EQ(result.model().W.col(4), start.W.col(4)) << "the column of a latent nobody uses is kept";
    EXPECT_GE(result.model().pi.minCoeff(), 1e-7 * (1 - 1e-9));
    EXPECT_LT(result.last().latents_in_use, 6);
  }
}

/// More latents than there is data to explain, for 60 iterations.
FitResult fit_to_the_end(const ModelKnobs& knobs, const Matrix& data) {
  FitOptions options;
  options.latents = 6;
  options.inference = truncated(4, 3);
  options.noise = knobs.noise;
  options.slab = knobs.slab;
  options.iterations = 60;
  options.tolerance = 0;
  return fit(MatrixData(data), options);
}

/// Noise that is held above its floor bounds the density: beyond this the free energy is made of rounding errors.
void expect_sane(const FitResult& result) {
  expect_finite(result);
  for (const IterationReport& row : result.state.history)
    EXPECT_LT(std::abs(row.free_energy), 1e5) << "iteration " << row.iteration;
}

TEST_P(Learning, DegenerateDataIsSurvived) {
  for (const std::uint64_t seed : {74, 1, 5, 7, 9, 12}) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    // One dimension is constant: its noise variance would go to zero.
    Matrix data = random_data(random_model(GetParam(), seed), 150, seed + 1);
    data.col(2).setConstant(0);
    const FitResult result = fit_to_the_end(GetParam(), data);
    expect_sane(result);
    if (GetParam().noise != NoiseType::scalar) {
      EXPECT_GT(result.state.rescues.floored_noise, 0);
    }
    if (GetParam().noise == NoiseType::full) {
      const double smallest =
          Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(result.model().noise.covariance()).eigenvalues()[0];
      EXPECT_GT(smallest, 1e-13 * result.model().noise.mean_variance());
    }
  }
}

TEST_P(Learning, DataOnALineIsSurvived) {
  // All noise goes to zero, all columns of W become parallel.
  for (const std::uint64_t seed : {74, 4, 15, 20}) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const Matrix cloud = random_data(random_model(GetParam(), seed), 150, seed + 1);
    const FitResult result = fit_to_the_end(GetParam(), cloud.col(0) * cloud.row(0));
    expect_sane(result);
    EXPECT_GT(result.state.rescues.floored_noise, 0);
  }
}

ModelKnobs six_by_four() {
  ModelKnobs knobs;
  knobs.dimensions = 6;
  knobs.latents = 4;
  return knobs;
}

TEST(KnownNoise, IsHeldAndNotLearned) {
  const Matrix data = random_data(random_model(six_by_four(), 81), 400, 82);
  FitOptions options;
  options.latents = 4;
  options.inference = truncated(4, 4);
  options.iterations = 12;
  options.tolerance = 0;
  options.sigma = 0.7;
  for (const Index batch : {0, 100}) {
    options.batch = batch;
    const FitResult result = fit(MatrixData(data), options);
    EXPECT_NEAR(result.state.history.front().noise_std, 1.8 * 0.7, 1e-12) << "it starts higher";
    EXPECT_NEAR(result.last().noise_std, 0.7, 1e-12);
    options.sigma = 0;
    EXPECT_GT(std::abs(fit(MatrixData(data), options).last().noise_std - 0.7), 1e-3);
    options.sigma = 0.7;
  }
}

TEST(KnownNoise, IsRefusedWhereItCannotBe) {
  const Matrix data = random_data(random_model(six_by_four(), 81), 50, 82);
  FitOptions options;
  options.latents = 4;
  options.sigma = 0.7;
  options.noise = NoiseType::diagonal;
  expect_error<UsageError>([&] { fit(MatrixData(data), options); }, {"sigma is 0.7, but noise is diagonal"});
  options.noise = NoiseType::scalar;
  options.inference.method = Method::factored;
  expect_error<UsageError>([&] { fit(MatrixData(data), options); }, {"sigma is 0.7", "factored method learns"});
  options.inference.method = Method::truncated;
  options.sigma = -1;
  expect_error<UsageError>([&] { fit(MatrixData(data), options); }, {"sigma is -1", "standard deviation"});
}

}  // namespace
}  // namespace gsc::test
