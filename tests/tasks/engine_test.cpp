// The seam behind which E-steps are computed: another engine does all that ours does, and ours is not confused by what
// it keeps from call to call.

#include <gsc/backend/engine.h>
#include <gsc/denoise.h>
#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "expect_error.h"
#include "inference_check.h"
#include "oracle.h"
#include "random_model.h"

namespace gsc::test {
namespace {

/// All states of every data point, one after the other. A backend at its simplest.
class EnumerationEngine final : public Engine {
 public:
  EnumerationEngine(const Data& data, const InferenceOptions& options) : data_(data) {
    if (options.method != Method::exact) throw UsageError("device enumeration is for the exact method");
  }

  Statistics e_step(const Model& model, const Pass& pass) override {
    if (pass.stop && pass.stop()) throw Interrupted("interrupted");
    std::vector<Index> rows(static_cast<std::size_t>(data_.rows()));
    std::iota(rows.begin(), rows.end(), Index{0});
    if (pass.rows) rows.assign(pass.rows->begin(), pass.rows->end());
    Matrix values(static_cast<Index>(rows.size()), data_.cols());
    for (Index i = 0; i < values.rows(); ++i) data_.read(rows[static_cast<std::size_t>(i)], values.middleRows(i, 1));
    const oracle::Sums sums = oracle::Oracle(model).sums(values, oracle::every_state(model.latents()));
    Statistics result(model);
    result.count = static_cast<double>(rows.size());
    result.free_energy = static_cast<double>(sums.free_energy);
    result.s = sums.s.cast<double>();
    result.m = sums.m.cast<double>();
    if (model.intercept.size() > 0) result.y = sums.y.cast<double>();
    result.YZ = sums.YZ.cast<double>();
    result.ZZ = sums.ZZ.cast<double>();
    const Matrix YY = sums.YY.cast<double>();
    result.YY = model.noise.type() == NoiseType::full ? YY : Matrix(YY.diagonal());
    if (model.slab.type() == SlabType::full) {
      result.lambda = sums.lambda.cast<double>();
      result.T = sums.T.cast<double>();
      result.SS = sums.SS.cast<double>();
    }
    ++calls;
    return result;
  }

  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest&) override {
    const oracle::Oracle oracle(model);
    Posterior posterior;
    posterior.mean = posterior.probability = Matrix(count, model.latents());
    if (request.variance) posterior.variance = posterior.mean;
    posterior.log_likelihood.resize(count);
    Matrix row(1, data_.cols());
    for (Index n = 0; n < count; ++n) {
      data_.read(first + n, row);
      const oracle::Moments moments =
          oracle.moments(row.transpose().cast<long double>(), oracle::all_states(model.latents()));
      posterior.mean.row(n) = moments.m.cast<double>();
      posterior.probability.row(n) = moments.s.cast<double>();
      if (request.variance) posterior.variance.row(n) = moments.variance.cast<double>();
      posterior.log_likelihood[n] = static_cast<double>(moments.log_sum);
    }
    ++calls;
    return posterior;
  }

  static inline int calls = 0;

 private:
  const Data& data_;
};

class AnotherEngine : public ::testing::Test {
 protected:
  void SetUp() override {
    add_engine("enumeration", [](const Data& data, const InferenceOptions& options) {
      return std::make_unique<EnumerationEngine>(data, options);
    });
    EnumerationEngine::calls = 0;
  }
};

TEST_F(AnotherEngine, Fits) {
  for (const ModelKnobs& knobs : every_type(3, 3)) {
    SCOPED_TRACE(::testing::Message() << knobs);
    const MatrixData data(random_data(random_model(knobs, 1), 60, 2));
    FitOptions options;
    options.latents = 3;
    options.noise = knobs.noise;
    options.slab = knobs.slab;
    options.inference = exact();
    options.iterations = 4;
    options.tolerance = 0;
    const FitResult expected = fit(data, options);
    EnumerationEngine::calls = 0;
    options.inference.device = "enumeration";
    const FitResult got = fit(data, options);
    EXPECT_GE(EnumerationEngine::calls, 5);
    ASSERT_EQ(got.state.history.size(), expected.state.history.size());
    for (std::size_t t = 0; t < got.state.history.size(); ++t)
      EXPECT_NEAR(got.state.history[t].free_energy / expected.state.history[t].free_energy, 1, 1e-9) << t;
  }
}

TEST_F(AnotherEngine, Infers) {
  const Model model = random_model({.dimensions = 5, .latents = 4}, 1);
  const MatrixData data(random_data(model, 20, 2));
  InferenceOptions options = exact();
  const Posterior expected = infer(model, data, options, {.variance = true}, 3, 10);
  options.device = "enumeration";
  const Posterior got = infer(model, data, options, {.variance = true}, 3, 10);
  EXPECT_EQ(EnumerationEngine::calls, 1);
  EXPECT_LT((got.mean - expected.mean).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((got.probability - expected.probability).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((got.variance - expected.variance).cwiseAbs().maxCoeff(), 1e-9);
  EXPECT_LT((got.log_likelihood - expected.log_likelihood).cwiseAbs().maxCoeff(), 1e-9);
}

TEST_F(AnotherEngine, Denoises) {
  Picture noisy;
  Random random(1);
  noisy.channels = {normal_matrix(20, 20, random) * 20};
  for (Index x = 0; x < 20; ++x) noisy.channels[0].col(x).array() += x % 6 < 3 ? 60 : 180;
  DenoiseOptions options;
  options.quality = Quality::fast;
  options.learning.inference.method = Method::exact;
  options.learning.inference.precision = Precision::double_precision;
  options.patch = 4;
  options.learning.latents = 4;
  options.learning.iterations = 3;
  options.models = 1;
  const Denoised expected = denoise(noisy, options);
  options.learning.inference.device = "enumeration";
  const Denoised got = denoise(noisy, options);
  EXPECT_GE(EnumerationEngine::calls, 5);  // of the starting point, of each iteration, and of the patches
  EXPECT_LT((got.picture.channels[0] - expected.picture.channels[0]).cwiseAbs().maxCoeff(), 1e-6);
  EXPECT_LT((got.std.channels[0] - expected.std.channels[0]).cwiseAbs().maxCoeff(), 1e-6);
}

/// Another that has posteriors on the candidates alone: ours, by another name.
class ForwardingEngine final : public Engine {
 public:
  ForwardingEngine(const Data& data, InferenceOptions options) {
    options.device = {};
    engine_ = make_engine(data, options);
  }
  Statistics e_step(const Model& model, const Pass& pass) override { return engine_->e_step(model, pass); }
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override {
    return engine_->infer(model, request, first, count, stop);
  }
  bool has_sparse() const override { return engine_->has_sparse(); }
  SparsePosterior infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                               const StopRequest& stop) override {
    ++calls;
    return engine_->infer_sparse(model, first, count, own, stop);
  }

  static inline int calls = 0;

 private:
  std::unique_ptr<Engine> engine_;
};

/// An engine that has what priors of their own need gets them, whatever it is called; one that has not is not asked.
TEST_F(AnotherEngine, HasPriorsOfTheirOwnIfItCan) {
  add_engine("forwarding", [](const Data& data, const InferenceOptions& options) {
    return std::make_unique<ForwardingEngine>(data, options);
  });
  Picture noisy;
  noisy.channels.push_back(Matrix::NullaryExpr(
      20, 22, [](Index y, Index x) { return 90 + 50 * std::sin(double(x) / 2) + 9 * std::cos(double(x * y)); }));
  DenoiseOptions options;
  options.patch = 4;
  options.learning.latents = 8;
  options.learning.iterations = 1;
  options.models = 1;
  options.learning.sigma = 10;
  options.learning.inference.threads = 1;
  const Denoised expected = denoise(noisy, options);
  options.learning.inference.device = "forwarding";
  const Denoised got = denoise(noisy, options);
  EXPECT_GT(got.nonlocal_rounds, 0);
  EXPECT_EQ(got.nonlocal_rounds, expected.nonlocal_rounds);
  EXPECT_EQ(ForwardingEngine::calls, got.nonlocal_rounds + 1);
  EXPECT_EQ(got.picture.channels[0], expected.picture.channels[0]);
  options.learning.inference.device = "enumeration";
  options.learning.inference.method = Method::exact;
  options.nonlocal = 1;
  expect_error<UsageError>([&] { denoise(noisy, options); }, {"nonlocal is 1", "a device that has them"});
}

TEST_F(AnotherEngine, RefusesWhatItDoesNotHave) {
  const MatrixData data(random_data(random_model({}, 1), 20, 2));
  FitOptions options;
  options.latents = 4;
  options.inference.device = "enumeration";
  expect_error<UsageError>([&] { fit(data, options); }, {"device enumeration is for the exact method"});
  options.inference.device = "abacus";
  expect_error<UsageError>([&] { fit(data, options); }, {"device is 'abacus'", "cpu, enumeration"});
  options.inference.method = Method::factored;
  expect_error<UsageError>([&] { fit(data, options); }, {"device is 'abacus'", "factored"});
}

/// Both engines of the cpu, with all noise and slab types they take.
struct EngineCase {
  ModelKnobs knobs;
  InferenceOptions options;
};
std::vector<EngineCase> cpu_engines() {
  std::vector<EngineCase> cases;
  for (const ModelKnobs& knobs : every_type(6, 5)) {
    cases.push_back({knobs, truncated(3, 2)});
    if (knobs.noise == NoiseType::full || knobs.slab == SlabType::full) continue;
    cases.push_back({knobs, {}});
    cases.back().options.method = Method::factored;
    cases.back().options.threads = 1;
  }
  return cases;
}

TEST(Engine, IsNotConfusedByWhatItKeeps) {
  for (const EngineCase& c : cpu_engines()) {
    SCOPED_TRACE(::testing::Message() << c.knobs << ", " << to_string(c.options.method));
    const Model one = random_model(c.knobs, 1), other = random_model(c.knobs, 2);
    const MatrixData data(random_data(one, 300, 3));
    const std::unique_ptr<Engine> engine = make_engine(data, c.options);
    for (const Model* model : {&one, &other, &other, &one}) {
      EXPECT_TRUE(same_bits(engine->e_step(*model, {}), e_step(*model, data, c.options)));
      const Posterior got = engine->infer(*model, {}, 5, 40, {}), expected = infer(*model, data, c.options, {}, 5, 40);
      EXPECT_EQ(got.mean, expected.mean);
      EXPECT_EQ(got.log_likelihood, expected.log_likelihood);
    }
  }
}

/// Sums of several threads are kept from call to call: also of one that was stopped, and of models of other shapes.
TEST(Engine, ClearsAndAddsUpWhatItsThreadsGathered) {
  for (const SlabType slab : {SlabType::diagonal, SlabType::full})
    for (const NoiseType noise : {NoiseType::diagonal, NoiseType::full}) {
      SCOPED_TRACE(::testing::Message() << to_string(slab) << " slab, " << to_string(noise) << " noise");
      ModelKnobs knobs{.dimensions = 9, .latents = 30, .noise = noise, .slab = slab, .intercept = true};
      const Model model = random_model(knobs, 3);
      knobs.latents = 41;
      knobs.intercept = false;
      const Model other = random_model(knobs, 4);
      const MatrixData data(random_data(model, 20000, 5));
      InferenceOptions options = truncated(7, 5);
      options.mean_products = slab == SlabType::diagonal;
      options.threads = 1;
      const Statistics alone = e_step(model, data, options), alone_other = e_step(other, data, options);
      options.threads = 4;
      const std::unique_ptr<Engine> engine = make_engine(data, options);
      const Statistics first = engine->e_step(model, {});
      EXPECT_LT(relative_difference(first, alone), 1e-12);
      EXPECT_FALSE(same_bits(first, alone)) << "one thread did it all, which this test is not about";
      int asked = 0;
      EXPECT_THROW(engine->e_step(model, {.stop = [&] { return ++asked == 2; }}), Interrupted);
      EXPECT_TRUE(same_bits(engine->e_step(model, {}), first));
      EXPECT_LT(relative_difference(engine->e_step(other, {}), alone_other), 1e-12);
      EXPECT_TRUE(same_bits(engine->e_step(model, {}), first));
    }
}

TEST(Engine, GoesOverTheRowsItIsGiven) {
  for (const EngineCase& c : cpu_engines()) {
    SCOPED_TRACE(::testing::Message() << c.knobs << ", " << to_string(c.options.method));
    const Model model = random_model(c.knobs, 1);
    const Matrix values = random_data(model, 40, 3);
    const MatrixData data(values);
    const std::unique_ptr<Engine> engine = make_engine(data, c.options);
    const std::vector<Index> rows = {7, 8, 9, 3, 39, 0, 3};
    const MatrixData chosen(Matrix(values(rows, Eigen::all)));
    EXPECT_TRUE(same_bits(engine->e_step(model, {.rows = rows}), e_step(model, chosen, c.options)));
    const Statistics none = engine->e_step(model, {.rows = std::span<const Index>()});
    EXPECT_EQ(none.count, 0);
    EXPECT_EQ(none.free_energy, 0);
    EXPECT_EQ(none.ZZ, Matrix(Matrix::Zero(5, 5)));
  }
}

}  // namespace
}  // namespace gsc::test
