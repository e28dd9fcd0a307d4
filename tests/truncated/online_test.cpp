// Online dictionary learning as a method of fit(): it finds what was planted, with and without gaps, and runs are the
// same to the bit however they are cut and spread over threads.

#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dictionary/coder.h"
#include "dictionary/lasso_coder.h"
#include "distributed/thread_team.h"
#include "effort.h"
#include "expect_error.h"
#include "planted_dictionary.h"

namespace gsc::test {
namespace {

FitOptions online(Index latents, int iterations) {
  FitOptions options;
  options.inference.method = Method::online;
  options.inference.threads = 2;
  options.latents = latents;
  options.iterations = iterations;
  options.intercept = Intercept::none;
  options.tolerance = 0;
  options.batch = 64;
  return options;
}

class OnlineCoding : public ::testing::TestWithParam<Coding> {};
INSTANTIATE_TEST_SUITE_P(Codings, OnlineCoding, ::testing::Values(Coding::lasso, Coding::bounded, Coding::omp),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST_P(OnlineCoding, RecoversAPlantedDictionary) {
  if (kSanitized) GTEST_SKIP() << "judges results, not code";
  const Planted made = planted(20, 30, 3000, 2, 0.05, 1);
  FitOptions options = online(30, 30);
  options.inference.coding.coding = GetParam();
  if (GetParam() == Coding::omp) options.inference.coding.atoms_per_point = 2;
  options.sigma = 0.05;
  const FitResult result = fit(MatrixData(made.data), options);
  EXPECT_GE(recovered(made.atoms, result.model().W), 0.9);
  EXPECT_LE(result.model().W.colwise().norm().maxCoeff(), 1 + 1e-12);
  EXPECT_LT(result.last().free_energy, 0.85 * result.state.history.front().free_energy);
}

TEST_P(OnlineCoding, ResumesToTheSameBitsOnAnyNumberOfThreads) {
  const Planted made = planted(12, 16, 400, 2, 0.1, 2);
  FitOptions options = online(16, 4);
  options.inference.coding.coding = GetParam();
  options.sigma = 0.1;
  const MatrixData data(made.data);
  const FitResult whole = fit(data, options);
  for (const int threads : {1, 3}) {
    options.inference.threads = threads;
    options.iterations = 2;
    FitResult first = fit(data, options);
    options.iterations = 4;
    const FitResult resumed = resume(data, options, std::move(first.state));
    EXPECT_TRUE(resumed.model() == whole.model());
    ASSERT_EQ(resumed.state.history.size(), whole.state.history.size());
    for (std::size_t t = 0; t < whole.state.history.size(); ++t)
      EXPECT_EQ(resumed.state.history[t].free_energy, whole.state.history[t].free_energy) << t;
  }
}

TEST_P(OnlineCoding, LearnsFromWhatIsThere) {
  if (kSanitized) GTEST_SKIP() << "judges results, not code";
  Planted made = planted(20, 24, 4000, 2, 0.05, 3);
  Random random(7);
  for (double& value : made.data.reshaped())
    if (random() % 8 == 0) value = std::numeric_limits<double>::quiet_NaN();
  FitOptions options = online(24, 40);
  options.inference.coding.coding = GetParam();
  if (GetParam() == Coding::omp) options.inference.coding.atoms_per_point = 2;
  options.inference.missing = Missing::nan;
  options.sigma = 0.05;
  EXPECT_GE(recovered(made.atoms, fit(MatrixData(made.data), options).model().W), 0.8);
}

/// The lasso of the observed entries, at the lambda that the options or the data point give.
TEST(OnlineCodes, AreTheLassoOfTheObservedEntries) {
  Random random(4);
  Model model;
  model.W = standard_normal(10, 18, random);
  model.W.colwise().normalize();
  model.noise = Noise::scalar(0.01, 10);
  Matrix X = standard_normal(40, 10, random), observed = Matrix::Ones(40, 10);
  for (Index n = 0; n < 40; n += 2)
    for (Index d = 0; d < 10; ++d)
      if (random() % 3 == 0) X(n, d) = observed(n, d) = 0;
  for (const double lambda : {0.0, 0.4})
    for (const LassoSearch search : {LassoSearch::lars, LassoSearch::feature_sign}) {
      InferenceOptions options;
      options.method = Method::online;
      options.coding.lambda = lambda;
      std::vector<Code> codes(40);
      lasso_coder(model, options, search)()->code(X, observed, codes);
      for (Index n = 0; n < 40; ++n) {
        const Code& code = codes[static_cast<std::size_t>(n)];
        const double entries = observed.row(n).sum();
        const double used =
            lambda > 0 ? lambda : std::min(1.2 / std::sqrt(std::max(entries, 1.0)), 0.3) * X.row(n).norm();
        Vector a = Vector::Zero(18);
        for (std::size_t i = 0; i < code.latents.size(); ++i) a[code.latents[i]] = code.values[i];
        const Vector left = observed.row(n).transpose().cwiseProduct(X.row(n).transpose() - model.W * a);
        const Vector products = model.W.transpose() * left;
        for (Index h = 0; h < 18; ++h) {
          if (a[h] != 0)
            EXPECT_NEAR(products[h], std::copysign(used, a[h]), 1e-10);
          else
            EXPECT_LE(std::abs(products[h]), used + 1e-10);
        }
        EXPECT_NEAR(code.squared_error, left.squaredNorm(), 1e-10);
        EXPECT_NEAR(code.penalty, used * a.lpNorm<1>(), 1e-10);
      }
    }
}

TEST(Online, StopsWhenPassesBringNothingMore) {
  const Planted made = planted(10, 8, 500, 1, 0.05, 5);
  FitOptions options = online(8, 500);
  options.tolerance = 1e-3;
  const FitResult result = fit(MatrixData(made.data), options);
  EXPECT_EQ(result.reason, StopReason::converged);
  EXPECT_LT(result.last().iteration, 500);
  EXPECT_TRUE(result.last().estimated);
}

TEST(Online, StopsAtACompleteRowWhenAsked) {
  struct StopSoon final : Watcher {
    void on_iteration(const FitState& state) override { rows = state.history.size(); }
    bool stop_requested() override { return rows >= 3 && ++asked > 5; }
    std::size_t rows = 0;
    int asked = 0;
  } watcher;
  const Planted made = planted(10, 8, 2000, 1, 0.05, 6);
  FitOptions options = online(8, 3);
  const MatrixData data(made.data);
  FitResult stopped = fit(data, online(8, 100), &watcher);
  EXPECT_EQ(stopped.reason, StopReason::interrupted);
  EXPECT_EQ(stopped.state.history.size(), watcher.rows);
  const FitResult resumed = resume(data, options, std::move(stopped.state));
  EXPECT_TRUE(resumed.model() == fit(data, options).model());
}

/// Few batches a pass, and most data on one ray: atoms that copy each other, or that nobody uses, are replaced.
TEST(Online, ReplacesUselessAtomsOnSmallData) {
  Random random(2);
  const Matrix atoms = standard_normal(12, 16, random).colwise().normalized();
  const Matrix normal = standard_normal(600, 1, random);
  Matrix ray = 0.02 * standard_normal(600, 12, random);
  for (Index n = 0; n < 600; ++n) ray.row(n) += 3 * normal(n, 0) * atoms.col(n % 10 == 0 ? n / 10 % 16 : 0).transpose();
  for (const Index batch : {100, 600}) {
    FitOptions options = online(16, 40);
    options.batch = batch;
    options.sigma = 0.02;
    const MatrixData data(ray);
    const FitResult result = fit(data, options);
    EXPECT_GT(result.state.rescues.replaced_atoms, 0) << batch;
    const Matrix W = result.model().W.colwise().normalized(), cosines = (W.transpose() * W).cwiseAbs();
    EXPECT_LE((cosines.array() > 0.99).count() - 16, 2) << batch;
    EXPECT_GE(result.last().latents_in_use, 15) << batch;
    // The same bits in two parts, although the first did not know how many batches would follow.
    options.iterations = 17;
    FitResult first = fit(data, options);
    options.iterations = 40;
    EXPECT_TRUE(resume(data, options, std::move(first.state)).model() == result.model()) << batch;
  }
}

TEST(Online, RefusesWhatItCannotDo) {
  const Planted made = planted(10, 8, 200, 1, 0.05, 6);
  const MatrixData data(made.data);
  const auto refused = [&](auto change, Parts parts) {
    FitOptions options = online(8, 2);
    change(options);
    expect_error<UsageError>([&] { fit(data, options); }, parts);
  };
  refused([](FitOptions& o) { o.inference.coding.lambda = 1e6; }, {"lambda is", "every code is zero", "choose less"});
  refused([](FitOptions& o) { o.inference.coding.lambda = -1; }, {"lambda is -1"});
  refused([](FitOptions& o) { o.inference.coding.atoms_per_point = 3; },
          {"atoms_per_point is 3", "coding is lasso", "omp"});
  refused([](FitOptions& o) { o.inference.coding.error_gain = 2; }, {"error_gain is 2", "coding is lasso", "bounded"});
  refused([](FitOptions& o) { o.dictionary.decay = 1.5; }, {"decay is 1.5"});
  refused([](FitOptions& o) { o.latents = 500; }, {"latents is 500", "200"});
  refused([](FitOptions& o) { o.dictionary.atom_update = AtomUpdate::approximate; }, {"atom_update", "ksvd"});
  refused(
      [](FitOptions& o) {
        o.inference.coding.coding = Coding::omp;
        o.inference.coding.lambda = 1;
      },
      {"lambda", "coding is omp"});
  run_ranks(2, 1, [&](Team& team) {
    FitOptions options = online(8, 2);
    options.sharing.team = &team;
    expect_error<UsageError>([&] { fit(data, options); }, {"method is online", "one process"});
  });
}

/// The largest useful value that the message names is one: just below it something is coded.
TEST(Online, NamesTheLargestUsefulLambda) {
  const Planted made = planted(6, 5, 50, 1, 0.05, 8);
  const MatrixData data(made.data);
  FitOptions options = online(5, 0);
  const Model start = fit(data, options).model();
  const double largest = (made.data * start.W).cwiseAbs().maxCoeff();
  options.batch = 50;
  options.inference.coding.lambda = largest * 0.999;
  EXPECT_GT(fit(data, options).last().mean_active, 0);
  options.inference.coding.lambda = largest * 1.001;
  expect_error<UsageError>([&] { fit(data, options); }, {"every code is zero"});
}

}  // namespace
}  // namespace gsc::test
