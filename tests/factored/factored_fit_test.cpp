// Learning by the factored method: its bound never falls, is what the oracle says it is and ends at a maximum; a run
// resumes to the bit; and the method's known bias is there.

#include <gsc/fit.h>
#include <gsc/option_list.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <iostream>
#include <numbers>

#include "expect_error.h"
#include "factored_check.h"
#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {
namespace {

using oracle::FactoredOracle;
using oracle::FactoredParameters;
using oracle::FactoredSweep;
using oracle::fixed_order;
using oracle::Real;

std::string setting_name(const ::testing::TestParamInfo<Setting>& test) {
  const Setting& setting = test.param;
  std::string name = setting.prior == BasisPrior::none ? "NoPrior" : "Identity";
  if (setting.prior == BasisPrior::gp) name = setting.length_scale > 0 ? "GpGiven" : "GpLearned";
  name += setting.shared_prior ? "Shared" : "Separate";
  name += setting.noise == NoiseType::scalar ? "ScalarNoise" : "DiagonalNoise";
  return name + (setting.order == SweepOrder::random ? "RandomOrder" : "FixedOrder");
}

class FactoredLearning : public ::testing::TestWithParam<Setting> {};
INSTANTIATE_TEST_SUITE_P(Settings, FactoredLearning, ::testing::ValuesIn(every_setting()), setting_name);

TEST_P(FactoredLearning, NeverLowersTheBound) {
  struct Problem {
    Index dimensions, latents, points;
    Shape shape;
  };
  const std::vector<Problem> problems = {{4, 2, 60, {}},          {7, 3, 83, {}},   {9, 5, 120, {}},
                                         {12, 4, 150, {2, 3, 2}}, {16, 8, 200, {}}, {4, 8, 100, {}},  // H > D
                                         {10, 6, 77, {5, 2, 1}}};
  std::uint64_t seed = 0;
  for (const Problem& problem : problems) {
    ++seed;
    SCOPED_TRACE(::testing::Message() << GetParam() << "; D=" << problem.dimensions << " H=" << problem.latents);
    ModelKnobs knobs;
    knobs.dimensions = problem.dimensions;
    knobs.latents = problem.latents;
    const Matrix data = random_data(random_model(knobs, seed), problem.points, seed + 50);
    FitOptions options = fit_options(GetParam(), problem.latents, 30, seed);
    options.shape = problem.shape;
    options.init = seed % 2 == 0 ? Init::data : Init::random;
    const FitResult result = fit(MatrixData(data), options);
    ASSERT_EQ(result.state.history.size(), 31U);
    EXPECT_NO_THROW(result.model().validate());
    for (std::size_t t = 0; t < result.state.history.size(); ++t) {
      const double now = result.state.history[t].free_energy;
      ASSERT_TRUE(std::isfinite(now)) << "iteration " << t;
      if (t == 0) continue;
      const double before = result.state.history[t - 1].free_energy;
      EXPECT_GE(now, before - 1e-9 * std::abs(before)) << "iteration " << t;
      EXPECT_FALSE(result.state.history[t].dip) << "iteration " << t;
    }
    EXPECT_GT(result.last().free_energy, result.state.history.front().free_energy + 10) << "it must learn";
    if (GetParam().prior == BasisPrior::gp && GetParam().length_scale > 0) {
      EXPECT_EQ(result.state.method.number("length_scale", 0), GetParam().length_scale);
    }
    if (GetParam().shared_prior) {
      EXPECT_EQ(result.model().mu, Vector::Zero(problem.latents));
      EXPECT_EQ(result.model().pi, Vector::Constant(problem.latents, result.model().pi[0]));
      EXPECT_EQ(result.model().slab.variances(), Vector::Constant(problem.latents, result.model().slab.variances()[0]));
    }
  }
}

TEST_P(FactoredLearning, ReportsTheBoundOfItsState) {
  // The order of the last sweep is not part of the state, so only a fixed one can be repeated.
  if (GetParam().order == SweepOrder::random) return;
  const Matrix data = random_data(random_model({.dimensions = 9, .latents = 4}, 3), 90, 4);
  for (const int iterations : {0, 1, 2, 9}) {
    SCOPED_TRACE(::testing::Message() << GetParam() << ", " << iterations << " iterations");
    const FitResult result = fit(MatrixData(data), fit_options(GetParam(), 4, iterations));
    const FitState& state = result.state;
    const FactoredOracle oracle(state.model);
    const FactoredSweep last = oracle::sweep(oracle, data, state.method.column("codes"), fixed_order(4));
    const Real points = last.sums.free_energy;
    const Real divergence = state.method.number("basis_divergence", 0);
    EXPECT_NEAR(static_cast<double>((state.history.back().free_energy + divergence) / points), 1, 1e-9);
    EXPECT_NEAR(state.history.back().mean_active / static_cast<double>(last.sums.s.sum() / 90), 1, 1e-9);
    switch (GetParam().prior) {
      case BasisPrior::none:
        EXPECT_EQ(state.model.W_variance.size(), 0);
        EXPECT_EQ(state.method.number("basis_divergence", 0), 0);
        break;
      case BasisPrior::identity: {
        const Real expected = oracle::identity_divergence(oracle.parameters());
        EXPECT_NEAR(static_cast<double>(divergence / expected), 1, 1e-9);
        break;
      }
      case BasisPrior::gp:  // the divergence needs all of V: factored_gp_test.cpp
        EXPECT_GT(state.method.number("basis_divergence", 0), 0);
        EXPECT_GT(state.method.number("length_scale", 0), 0);
        break;
    }
  }
}

TEST_P(FactoredLearning, ResumingGivesTheSameBits) {
  // So many points that the engine does use two threads.
  const Matrix data = random_data(random_model({.dimensions = 16, .latents = 8}, 53), 40000, 54);
  FitOptions options = fit_options(GetParam(), 8, 6);
  options.inference.threads = 2;
  Recorder recorder;
  const FitResult whole = fit(MatrixData(data), options, &recorder);
  ASSERT_EQ(recorder.states.size(), 7U);
  const FitState& middle = recorder.states[3];
  ASSERT_EQ(middle.history.back().iteration, 3);
  const FitResult both = resume(MatrixData(data), options, middle);
  ASSERT_EQ(both.state.history.size(), whole.state.history.size());
  for (std::size_t t = 0; t < whole.state.history.size(); ++t) {
    EXPECT_EQ(both.state.history[t].free_energy, whole.state.history[t].free_energy) << "iteration " << t;
  }
  EXPECT_EQ(both.model().W, whole.model().W);
  EXPECT_EQ(both.model().W_variance, whole.model().W_variance);
  EXPECT_EQ(both.model().pi, whole.model().pi);
  EXPECT_EQ(both.model().mu, whole.model().mu);
  EXPECT_EQ(both.model().slab.values(), whole.model().slab.values());
  EXPECT_EQ(both.model().noise.values(), whole.model().noise.values());
  EXPECT_TRUE(both.state.method.column("codes") == whole.state.method.column("codes"));
  EXPECT_EQ(both.state.method.number("basis_divergence", 0), whole.state.method.number("basis_divergence", 0));
  EXPECT_EQ(both.state.method.number("length_scale", 0), whole.state.method.number("length_scale", 0));
  EXPECT_NE(middle.model.W, whole.model().W) << "three iterations must not be six";
}

/// A way to move the parameters by a step.
struct Direction {
  std::string name;
  std::function<void(FactoredParameters&, Real)> move;
};

std::vector<Direction> directions(const FactoredParameters& theta, const Setting& setting) {
  std::vector<Direction> all;
  const Index D = theta.W.rows();
  const Index H = theta.W.cols();
  const auto logit = [](Real p) { return std::log(p / (1 - p)); };
  for (Index h = 0; h < H; ++h) {
    const std::string latent = " of latent " + std::to_string(h);
    for (Index d = 0; d < D; ++d) {
      all.push_back({"W" + latent, [=](FactoredParameters& at, Real step) { at.W(d, h) += step; }});
      if (setting.prior == BasisPrior::none) continue;
      all.push_back({"V" + latent, [=](FactoredParameters& at, Real step) { at.V(d, h) *= std::exp(step); }});
    }
    if (setting.shared_prior) continue;
    all.push_back({"mu" + latent, [=](FactoredParameters& at, Real step) { at.mu[h] += step; }});
    all.push_back({"v" + latent, [=](FactoredParameters& at, Real step) { at.v[h] *= std::exp(step); }});
    all.push_back({"pi" + latent,
                   [=](FactoredParameters& at, Real step) { at.pi[h] = 1 / (1 + std::exp(-logit(at.pi[h]) - step)); }});
  }
  for (Index d = 0; d < D; ++d) all.push_back({"b", [=](FactoredParameters& at, Real step) { at.b[d] += step; }});
  if (setting.shared_prior) {
    all.push_back({"v", [](FactoredParameters& at, Real step) { at.v *= std::exp(step); }});
    all.push_back({"pi", [=](FactoredParameters& at, Real step) {
                     at.pi.setConstant(1 / (1 + std::exp(-logit(at.pi[0]) - step)));
                   }});
  }
  if (setting.noise == NoiseType::scalar) {
    all.push_back({"noise", [](FactoredParameters& at, Real step) { at.noise *= std::exp(step); }});
  } else {
    for (Index d = 0; d < D; ++d) {
      all.push_back({"noise", [=](FactoredParameters& at, Real step) { at.noise[d] *= std::exp(step); }});
    }
  }
  return all;
}

/// What the best step in each direction would gain, slope^2 / (2 |curvature|) of the oracle's bound, codes held: the
/// largest, relative to the bound.
Real largest_gain(const Matrix& data, const FitState& state, const Setting& setting) {
  const FactoredParameters theta(state.model);
  const FactoredSweep last =
      oracle::sweep(FactoredOracle(theta), data, state.method.column("codes"), fixed_order(theta.pi.size()));
  const auto bound = [&](const FactoredParameters& at) {
    const Real divergence = setting.prior == BasisPrior::none ? 0 : oracle::identity_divergence(at);
    return oracle::total_bound(FactoredOracle(at), data, last.points) - divergence;
  };
  const Real here = bound(theta);
  Real largest = 0;
  for (const Direction& direction : directions(theta, setting)) {
    constexpr Real kStep = 1e-4L;
    FactoredParameters up = theta;
    FactoredParameters down = theta;
    direction.move(up, kStep);
    direction.move(down, -kStep);
    const Real slope = (bound(up) - bound(down)) / (2 * kStep);
    const Real curvature = (bound(up) - 2 * here + bound(down)) / (kStep * kStep);
    EXPECT_LT(curvature, 0) << direction.name;
    largest = std::max(largest, slope * slope / (2 * std::abs(curvature)) / std::abs(here));
  }
  return largest;
}

TEST(FactoredMaximum, LearningEndsWhereNoParameterCanGain) {
  for (const Setting& setting : every_setting()) {
    if (setting.prior == BasisPrior::gp || setting.order == SweepOrder::random) continue;
    SCOPED_TRACE(::testing::Message() << setting);
    const ModelKnobs knobs{.dimensions = 5, .latents = 2, .noise_std = 0.5};
    const Model start = random_model(knobs, 81);
    const Matrix data = random_data(start, 80, 82);
    const FitResult early = fit(MatrixData(data), fit_options(setting, 2, 1), nullptr, start);
    const FitResult late = fit(MatrixData(data), fit_options(setting, 2, 2000), nullptr, start);
    EXPECT_LT(late.model().pi.maxCoeff(), 0.95) << "both latents in use, both sparse";
    EXPECT_GT(late.model().pi.minCoeff(), 0.05);
    EXPECT_GT(largest_gain(data, early.state, setting), 1e-6L) << "there must have been something to learn";
    EXPECT_LT(largest_gain(data, late.state, setting), 1e-10L);
  }
}

/// Between the lines along the first two columns, in degrees.
double angle(const Matrix& W) {
  const double cosine = std::abs(W.col(0).dot(W.col(1))) / (W.col(0).norm() * W.col(1).norm());
  return std::acos(std::min(cosine, 1.0)) * 180 / std::numbers::pi;
}

TEST(FactoredBias, MakesABasisMoreOrthogonalThanItIs) {
  // Two sources 30 degrees apart. A factored posterior cannot say "if this one is larger the other is smaller", so
  // learning prefers bases under which it need not. Both methods start from the true parameters: what they end with is
  // where their own objective leads, not a local optimum that a random start fell into.
  const double true_angle = 30;
  const double half = true_angle / 2 * std::numbers::pi / 180;
  Model truth;
  truth.W = (Matrix(2, 2) << std::cos(half), std::cos(half), std::sin(half), -std::sin(half)).finished();
  truth.pi = Vector::Constant(2, 0.3);
  truth.mu = Vector::Zero(2);
  truth.slab = Slab::diagonal(Vector::Ones(2));
  truth.noise = Noise::scalar(0.15 * 0.15, 2);
  double mean_exact = 0;
  double mean_factored = 0;
  constexpr int kRuns = 5;
  for (std::uint64_t seed = 1; seed <= kRuns; ++seed) {
    const MatrixData data(random_data(truth, 2000, seed));
    const FitResult biased = fit(data, fit_options({.prior = BasisPrior::none}, 2, 200), nullptr, truth);
    FitOptions options = options_for(fit_options({}, 2, 200), Method::exact);
    options.inference = exact();
    const FitResult unbiased = fit(data, options, nullptr, truth);
    EXPECT_GT(angle(biased.model().W), true_angle + 15) << "seed " << seed;
    EXPECT_NEAR(angle(unbiased.model().W), true_angle, 5) << "seed " << seed;
    mean_factored += angle(biased.model().W) / kRuns;
    mean_exact += angle(unbiased.model().W) / kRuns;
  }
  std::cout << "mean angle, true 30: factored " << mean_factored << ", exact " << mean_exact << '\n';
  EXPECT_GT(mean_factored, true_angle + 25);
  EXPECT_NEAR(mean_exact, true_angle, 3);
}

TEST(FactoredStart, DoesNotDependOnTheUnitsOfTheData) {
  // W has a prior in fixed units, so that from a random start the amplitudes must take up the scale of the data.
  const Matrix data = random_data(random_model({.dimensions = 6, .latents = 4}, 7), 300, 8);
  FitOptions options = fit_options({.prior = BasisPrior::identity}, 4, 20);
  options.init = Init::random;
  const double factor = 1000;
  const FitResult plain = fit(MatrixData(data), options), large = fit(MatrixData(factor * data), options);
  EXPECT_LT((plain.model().W - large.model().W).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_NEAR(large.last().noise_std / plain.last().noise_std, factor, 1e-3 * factor);
  EXPECT_NEAR(large.last().free_energy, plain.last().free_energy - static_cast<double>(data.size()) * std::log(factor),
              1e-6 * std::abs(plain.last().free_energy));
}

/// No device has the method, so there is nothing else that `auto` could choose.
TEST(FactoredDevices, AutoIsTheProcessor) {
  const Matrix data = random_data(random_model({.dimensions = 6, .latents = 2}, 5), 40, 6);
  FitOptions options = fit_options({}, 2, 2);
  const FitResult expected = fit(MatrixData(data), options);
  options.inference.device = "auto";
  const FitResult got = fit(MatrixData(data), options);
  EXPECT_EQ(got.model(), expected.model());
  EXPECT_EQ(infer(got.model(), MatrixData(data), options.inference).mean,
            infer(expected.model(), MatrixData(data), fit_options({}, 2, 2).inference).mean);
  options.inference.device = "cuda";
  expect_error<UsageError>([&] { fit(MatrixData(data), options); }, {"device is 'cuda'", "factored", "on the cpu"});
}

TEST(FactoredErrors, NameTheOption) {
  const Matrix data = random_data(random_model({.dimensions = 6, .latents = 2}, 5), 40, 6);
  const auto refused = [&](Parts parts, const auto& change) {
    FitOptions options = fit_options({}, 2, 2);
    change(options);
    expect_error<UsageError>([&] { fit(MatrixData(data), options); }, parts);
  };
  refused({"noise is full", "scalar or diagonal noise"}, [](FitOptions& options) { options.noise = NoiseType::full; });
  refused({"slab is full", "a diagonal slab"}, [](FitOptions& options) { options.slab = SlabType::full; });
  refused({"noise_update is paper", "truncated and exact methods"},
          [](FitOptions& options) { options.noise_update = Update::paper; });
  refused({"length_scale is -1", "zero to have it learned"}, [](FitOptions& options) {
    options.factored.basis_prior = BasisPrior::gp;
    options.factored.length_scale = -1;
  });
  refused({"shape is 2 x 2 x 1", "6 dimensions", "their product"}, [](FitOptions& options) {
    options.factored.basis_prior = BasisPrior::gp;
    options.shape = {2, 2, 1};  // 4 values for 6 dimensions
  });
  FitOptions good = fit_options({}, 2, 2);
  EXPECT_NO_THROW(fit(MatrixData(data), good));
  good.factored.basis_prior = BasisPrior::gp;
  good.shape = {2, 3, 1};
  EXPECT_NO_THROW(fit(MatrixData(data), good));
}

}  // namespace
}  // namespace gsc::test
