// Learning and inference by the Beta process through the doors that users take.

#include <gsc/fit.h>
#include <gsc/missing.h>
#include <gtest/gtest.h>

#include <cmath>

#include "beta_process/chain_averages.h"
#include "expect_error.h"
#include "random_model.h"

namespace gsc::test::beta_process_fit {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A few strong basis functions, rarely on, and little noise.
Matrix sparse_data(Index points, double noise, std::uint64_t seed = 3) {
  Random random(seed);
  const Matrix W = normal_matrix(10, 4, random), amplitudes = 3 * normal_matrix(points, 4, random);
  std::bernoulli_distribution on(0.2);
  Matrix codes = amplitudes;
  for (double& a : codes.reshaped()) a = on(random) ? a : 0;
  return codes * W.transpose() + noise * normal_matrix(points, 10, random);
}

FitOptions options(Method method, int iterations = 60) {
  FitOptions result;
  result.inference.method = method;
  result.inference.threads = 2;
  result.latents = 8;
  result.iterations = iterations;
  result.tolerance = 0;
  return result;
}

TEST(BetaProcessFit, FindsTheNoiseLevel) {
  const MatrixData data(sparse_data(2000, 0.5));
  for (const UsagePrior prior : {UsagePrior::program, UsagePrior::paper})
    for (const Method method : {Method::beta_process, Method::beta_variational}) {
      FitOptions asked = options(method);
      asked.beta_process.usage_prior = prior;
      const FitResult result = fit(data, asked);
      EXPECT_NEAR(result.last().noise_std, 0.5, 0.02) << to_string(method);
      // 0.8 were on; where some of the eight latents share a basis function, more are.
      EXPECT_GT(result.last().mean_active, 0.7) << to_string(method);
      EXPECT_LT(result.last().mean_active, 1.5) << to_string(method);
      result.model().validate();
      EXPECT_EQ(result.model().W_variance.rows(), 10) << "posterior variances of W";
      EXPECT_GT(result.model().W_variance.minCoeff(), 0);
    }
}

TEST(BetaProcessFit, NoiseAloneIsNoise) {
  Random random(7);
  const MatrixData data(normal_matrix(600, 10, random));
  for (const Method method : {Method::beta_process, Method::beta_variational}) {
    const FitResult result = fit(data, options(method));
    EXPECT_NEAR(result.last().noise_std, 1, 0.05) << to_string(method);
    EXPECT_LT(result.last().mean_active, 0.5) << to_string(method);
    result.model().validate();
  }
}

TEST(BetaProcessFit, BoundNeverFalls) {
  const MatrixData data(sparse_data(500, 0.5));
  const FitResult result = fit(data, options(Method::beta_variational));
  for (std::size_t i = 1; i < result.state.history.size(); ++i)
    EXPECT_GE(result.state.history[i].free_energy,
              result.state.history[i - 1].free_energy - 1e-9 * std::abs(result.state.history[i].free_energy))
        << i;
}

/// Stops after a row, as Ctrl-C does.
class StopAt final : public Watcher {
 public:
  explicit StopAt(int row) : row_(row) {}
  void on_iteration(const FitState& state) override { reached_ = state.history.back().iteration >= row_; }
  bool stop_requested() override { return reached_; }

 private:
  int row_;
  bool reached_ = false;
};

TEST(BetaProcessFit, ResumesWithTheSameBits) {
  const MatrixData data(sparse_data(1500, 0.5));
  for (const Method method : {Method::beta_process, Method::beta_variational})
    for (const int stop : {0, 5, 9}) {
      FitOptions asked = options(method, 12);
      if (method == Method::beta_process) {
        asked.beta_process.burn_in = 6;
        asked.beta_process.chains = 2;
      }
      StopAt watcher(stop);
      const FitResult whole = fit(data, asked);
      FitResult half = fit(data, asked, &watcher);
      ASSERT_EQ(half.last().iteration, stop);
      const FitResult resumed = resume(data, asked, std::move(half.state));
      EXPECT_TRUE(resumed.model() == whole.model()) << to_string(method) << " from " << stop;
      EXPECT_EQ(resumed.last().free_energy, whole.last().free_energy);
      EXPECT_EQ(resumed.state.method.columns.at("codes"), whole.state.method.columns.at("codes"));
    }
}

/// A model file, that is a state without its columns, is no worse for being taken up again.
TEST(BetaProcessFit, GoesOnFromAModelWithoutSpoilingIt) {
  const MatrixData data(sparse_data(600, 0.5));
  FitOptions asked = options(Method::beta_process, 60);
  asked.beta_process.chains = 2;
  const FitResult learned = fit(data, asked);
  const auto go_on = [&](int iterations) {
    FitOptions longer = asked;
    longer.iterations = iterations;
    FitState state = learned.state;
    state.method.columns.clear();
    return resume(data, longer, std::move(state));
  };
  const FitResult same = go_on(60), burning = go_on(62), longer = go_on(80);
  EXPECT_TRUE(same.model() == learned.model());
  EXPECT_EQ(same.state.method.arrays.at("draw_W"), learned.state.method.arrays.at("draw_W"));
  EXPECT_NEAR(burning.last().noise_std, learned.last().noise_std, 0.01);
  EXPECT_EQ(same.state.method.arrays.at("averages")(0, 0), 30);
  EXPECT_EQ(burning.state.method.arrays.at("averages")(0, 0), 31);
  EXPECT_EQ(longer.state.method.arrays.at("averages")(0, 0), 40) << "of 20 sweeps 10 are burn-in";
  EXPECT_NEAR(longer.last().noise_std, learned.last().noise_std, 0.01);
  EXPECT_LT((longer.model().W - learned.model().W).norm(), 0.2 * learned.model().W.norm());
}

/// Other units of the data are other units of the model, and nothing else.
TEST(BetaProcessFit, TheUnitOfTheDataDoesNotMatter) {
  const Matrix data = sparse_data(400, 0.5);
  const double unit = std::ldexp(1, -20);
  for (const Method method : {Method::beta_process, Method::beta_variational}) {
    const Model model = fit(MatrixData(data), options(method, 20)).model();
    const Model small = fit(MatrixData(unit * data), options(method, 20)).model();
    EXPECT_NEAR(std::sqrt(small.noise.mean_variance()) / unit, std::sqrt(model.noise.mean_variance()), 1e-9)
        << to_string(method);
    EXPECT_LT((small.slab.variances() / (unit * unit) - model.slab.variances()).norm(),
              1e-9 * model.slab.variances().norm());
    EXPECT_LT((small.W - model.W).norm(), 1e-9 * model.W.norm());
    EXPECT_LT((small.pi - model.pi).norm(), 1e-9);
    EXPECT_LT((small.intercept / unit - model.intercept).norm(), 1e-9 * (1 + model.intercept.norm()));
  }
}

/// Burn-in that leaves no draw to average is half of the iterations, and said.
TEST(BetaProcessFit, BurnInLeavesDrawsToAverage) {
  struct Notes final : Watcher {
    void on_note(const std::string& note) override { text += note + "\n"; }
    std::string text;
  } notes;
  const MatrixData data(sparse_data(300, 0.5));
  const FitResult result = fit(data, options(Method::beta_process, 20), &notes);
  EXPECT_EQ(result.state.method.arrays.at("averages")(0, 0), 10);
  EXPECT_EQ(result.model().W_variance.rows(), 10);
  EXPECT_NE(notes.text.find("burn_in is 30, but there are only 20 iterations"), std::string::npos) << notes.text;
  // The draws that a longer run would not average are forgotten when it is made longer.
  FitOptions longer = options(Method::beta_process, 40);
  EXPECT_TRUE(resume(data, longer, result.state).model() == fit(data, longer).model());
}

TEST(BetaProcessFit, ThreadsAndChainsSideBySideChangeNoBit) {
  const MatrixData data(sparse_data(1500, 0.5));
  FitOptions asked = options(Method::beta_process, 8);
  asked.beta_process.chains = 3;
  asked.beta_process.burn_in = 4;
  std::vector<Model> models;
  for (const int threads : {1, 2, 5}) {
    asked.inference.threads = threads;
    models.push_back(fit(data, asked).model());
  }
  EXPECT_TRUE(models[0] == models[1]);
  EXPECT_TRUE(models[0] == models[2]);
}

TEST(BetaProcessFit, ChainsAreJudgedTogether) {
  const MatrixData data(sparse_data(800, 0.5));
  FitOptions asked = options(Method::beta_process, 80);
  asked.beta_process.chains = 3;
  const FitResult result = fit(data, asked);
  const auto& numbers = result.state.method.numbers;
  EXPECT_GT(numbers.at("noise_std_deviation"), 0);
  EXPECT_LT(numbers.at("noise_std_deviation"), 0.05);
  EXPECT_GT(numbers.at("r_hat_noise_std"), 0.9);
  EXPECT_LT(numbers.at("r_hat_noise_std"), 1.5);
}

TEST(BetaProcessFit, RHatTellsChainsThatDiffer) {
  RunningMean one, same, other;
  for (const double x : {1.0, 2.0, 3.0, 4.0}) {
    one.add(x);
    same.add(x);
    other.add(x + 20);
  }
  EXPECT_NEAR(one.mean, 2.5, 1e-15);
  EXPECT_NEAR(one.variance(), 5.0 / 3, 1e-14);
  EXPECT_NEAR(r_hat({one, same}), std::sqrt(0.75), 1e-12);
  // (n-1)/n + B with B = 20^2/2 over the variance within.
  EXPECT_NEAR(r_hat({one, other}), std::sqrt(0.75 + 200 / (5.0 / 3)), 1e-12);
  EXPECT_EQ(r_hat({one}), 0);
}

TEST(BetaProcessFit, LearnsFromDataWithGapsAndFillsThem) {
  const Matrix whole = sparse_data(1200, 0.3);
  Matrix seen = whole;
  Random random(1);
  std::bernoulli_distribution hole(0.3);
  for (double& y : seen.reshaped()) y = hole(random) ? kNaN : y;
  const MatrixData data(seen);
  FitOptions asked = options(Method::beta_process);
  asked.inference.missing = Missing::nan;
  const FitResult result = fit(data, asked);
  EXPECT_NEAR(result.last().noise_std, 0.3, 0.03);
  const Imputed filled = impute(result.model(), data, asked.inference);
  double error = 0, power = 0, scaled = 0, count = 0;
  for (Index n = 0; n < seen.rows(); ++n)
    for (Index d = 0; d < seen.cols(); ++d) {
      if (!std::isnan(seen(n, d))) {
        EXPECT_EQ(filled.mean(n, d), seen(n, d));
        EXPECT_EQ(filled.std(n, d), 0);
        continue;
      }
      const double miss = filled.mean(n, d) - whole(n, d);
      error += miss * miss;
      power += whole(n, d) * whole(n, d);
      scaled += std::pow(miss / filled.std(n, d), 2);
      count += 1;
    }
  EXPECT_LT(error, 0.15 * power);
  EXPECT_GT(scaled / count, 0.4);
  EXPECT_LT(scaled / count, 3);
}

TEST(BetaProcessFit, WhatIsUnderAMaskDoesNotMatter) {
  const Matrix one = sparse_data(300, 0.3);
  Random random(2);
  Matrix mask(300, 10), other = one;
  std::bernoulli_distribution hole(0.3);
  for (Index i = 0; i < mask.size(); ++i) {
    mask.data()[i] = hole(random) ? 1 : 0;
    if (mask.data()[i] != 0) other.data()[i] = 1000;
  }
  const MatrixData first(one), second(other), masks(mask);
  FitOptions asked = options(Method::beta_process, 10);
  asked.inference.missing = Missing::nan;
  const auto learned = [&](const Data& data) { return fit(MaskedData(data, masks), asked).model(); };
  const Model model = learned(first);
  EXPECT_TRUE(model == learned(second));
  EXPECT_EQ(infer(model, MaskedData(first, masks), asked.inference).mean,
            infer(model, MaskedData(second, masks), asked.inference).mean);
}

TEST(BetaProcessInfer, PosteriorIsThatOfTheExactMethod) {
  ModelKnobs knobs;
  knobs.dimensions = 6;
  knobs.latents = 5;
  Model model = random_model(knobs, 4);
  model.mu.setZero();
  Matrix y = random_data(model, 40, 5);
  y(3, 2) = y(7, 0) = y(7, 5) = kNaN;
  const MatrixData data(y);
  InferenceOptions asked;
  asked.missing = Missing::nan;
  asked.method = Method::exact;
  const Posterior exact = infer(model, data, asked, {.variance = true});
  asked.method = Method::beta_process;
  asked.draws = 4000;
  const Posterior drawn = infer(model, data, asked, {.variance = true});
  // Neighbouring draws are alike, so 4000 of them count as some hundreds.
  EXPECT_LT((drawn.probability - exact.probability).cwiseAbs().maxCoeff(), 0.15);
  EXPECT_LT((drawn.probability - exact.probability).norm() / std::sqrt(200.0), 0.02);
  EXPECT_LT((drawn.mean - exact.mean).norm() / std::sqrt(200.0), 0.03);
  EXPECT_LT((drawn.variance - exact.variance).norm() / std::sqrt(200.0), 0.06);
  EXPECT_EQ(drawn.log_likelihood.size(), 0);
  // Rows on their own have the same bits, on any number of threads.
  asked.threads = 3;
  asked.draws = 5;
  const Posterior few = infer(model, data, asked), part = infer(model, data, asked, {}, 10, 20);
  EXPECT_EQ(few.mean.middleRows(10, 20), part.mean);
}

TEST(BetaProcessFit, RefusesWhatItDoesNotHave) {
  const MatrixData data(sparse_data(30, 0.5));
  const auto refused = [&](const std::function<void(FitOptions&)>& change, Parts parts) {
    for (const Method method : {Method::beta_process, Method::beta_variational}) {
      FitOptions asked = options(method, 1);
      change(asked);
      expect_error<UsageError>([&] { fit(data, asked); }, parts);
    }
  };
  refused([](FitOptions& o) { o.latents = 31; }, {"latents is 31", "30 data points"});
  refused([](FitOptions& o) { o.sigma = 2; }, {"sigma is 2", "learns it"});
  refused([](FitOptions& o) { o.noise = NoiseType::diagonal; }, {"noise is diagonal", "beta-"});
  refused([](FitOptions& o) { o.inference.candidates = 3; }, {"candidates is 3", "beta-", "truncated"});
  refused([](FitOptions& o) { o.batch = 10; }, {"batch is 10", "beta-"});
  FitOptions asked = options(Method::beta_variational, 1);
  asked.inference.missing = Missing::nan;
  expect_error<UsageError>([&] { fit(data, asked); }, {"missing is nan", "beta-variational", "beta-process"});
  asked = options(Method::beta_variational, 1);
  asked.beta_process.chains = 2;
  expect_error<UsageError>([&] { fit(data, asked); }, {"chains is 2", "beta-variational", "beta-process"});
  asked = options(Method::truncated, 1);
  asked.beta_process.usage_prior = UsagePrior::paper;
  expect_error<UsageError>([&] { fit(data, asked); }, {"usage_prior is paper", "truncated", "beta-process"});
  asked = options(Method::beta_process, 0);
  Model model = fit(data, asked).model();
  model.mu.setOnes();
  expect_error<UsageError>([&] { infer(model, data, asked.inference); }, {"means", "truncated method"});
}

}  // namespace
}  // namespace gsc::test::beta_process_fit
