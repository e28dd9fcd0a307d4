// Efficient sparse coding as a method of fit(): its objective never rises, it finds what was planted, and runs resume
// to the same bits.

#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <cmath>

#include "distributed/thread_team.h"
#include "effort.h"
#include "expect_error.h"
#include "planted_dictionary.h"

namespace gsc::test {
namespace {

FitOptions feature_sign(Index latents, int iterations) {
  FitOptions options;
  options.inference.method = Method::feature_sign;
  options.inference.threads = 2;
  options.latents = latents;
  options.iterations = iterations;
  options.intercept = Intercept::none;
  options.tolerance = 0;
  return options;
}

TEST(FeatureSignLearning, NeverRaisesTheObjective) {
  for (const double lambda : {0.0, 0.3, 1.0}) {
    const Planted made = planted(9, 14, 300, 2, 0.2, 1);
    FitOptions options = feature_sign(14, 25);
    options.inference.coding.lambda = lambda;
    const FitResult result = fit(MatrixData(made.data), options);
    const auto& history = result.state.history;
    for (std::size_t t = 1; t < history.size(); ++t) {
      EXPECT_LE(history[t].free_energy, history[t - 1].free_energy * (1 + 1e-12))
          << "lambda " << lambda << " row " << t;
      EXPECT_FALSE(history[t].dip);
    }
    EXPECT_LT(history.back().free_energy, 0.98 * history.front().free_energy);
    EXPECT_LE(result.model().W.colwise().norm().maxCoeff(), 1 + 1e-12);
  }
}

TEST(FeatureSignLearning, RecoversAPlantedDictionary) {
  if (kSanitized) GTEST_SKIP() << "judges results, not code";
  const Planted made = planted(20, 30, 2000, 2, 0.05, 1);
  FitOptions options = feature_sign(30, 40);
  EXPECT_GE(recovered(made.atoms, fit(MatrixData(made.data), options).model().W), 0.9);
}

TEST(FeatureSignLearning, ResumesToTheSameBitsOnAnyNumberOfThreads) {
  const Planted made = planted(8, 12, 300, 2, 0.1, 2);
  // Equal values make ties, in which the code hangs on where its search starts.
  const MatrixData data(made.data.array().round().matrix());
  FitOptions options = feature_sign(12, 6);
  options.inference.coding.lambda = 0.5;
  const FitResult whole = fit(data, options);
  for (const int threads : {1, 3}) {
    options.inference.threads = threads;
    options.iterations = 3;
    FitResult first = fit(data, options);
    options.iterations = 6;
    const FitResult resumed = resume(data, options, std::move(first.state));
    EXPECT_TRUE(resumed.model() == whole.model());
    EXPECT_EQ(resumed.last().free_energy, whole.last().free_energy);
  }
}

TEST(FeatureSignLearning, RefusesWhatItCannotDo) {
  const Planted made = planted(10, 8, 200, 1, 0.05, 6);
  const auto refused = [&](auto change, Parts parts) {
    FitOptions options = feature_sign(8, 2);
    change(options);
    expect_error<UsageError>([&] { fit(MatrixData(made.data), options); }, parts);
  };
  refused([](FitOptions& o) { o.inference.missing = Missing::nan; }, {"missing is nan", "feature-sign", "online"});
  refused([](FitOptions& o) { o.inference.coding.lambda = 1e6; }, {"lambda is", "every code is zero"});
  refused([](FitOptions& o) { o.inference.coding.coding = Coding::omp; }, {"coding is omp", "online"});
  refused([](FitOptions& o) { o.dictionary.decay = 0.5; }, {"decay is 0.5", "online"});
  refused([](FitOptions& o) { o.batch = 100; }, {"batch is 100"});
  run_ranks(2, 1, [&](Team& team) {
    FitOptions options = feature_sign(8, 2);
    options.sharing.team = &team;
    expect_error<UsageError>([&] { fit(MatrixData(made.data), options); }, {"method is feature-sign", "one process"});
  });
}

TEST(FeatureSignLearning, RefusesDamagedCodesOfACheckpoint) {
  const Planted made = planted(8, 6, 60, 1, 0.1, 3);
  const MatrixData data(made.data);
  FitOptions options = feature_sign(6, 2);
  const FitState good = fit(data, options).state;
  FitState state = good;
  options.iterations = 3;
  state.method.columns.at("codes")(0, 5) = 6;
  expect_error<Error>([&] { resume(data, options, state); }, {"data point 5", "atom", "damaged"});
  state.method.columns.at("codes") = good.method.columns.at("codes").leftCols(10);
  expect_error<Error>([&] { resume(data, options, state); }, {"codes", "10", "60"});
}

}  // namespace
}  // namespace gsc::test
