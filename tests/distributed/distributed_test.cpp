// Learning in a team of threads: the same model as in one process, however the rows are shared.

#include <gsc/fit.h>
#include <gsc/team.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <vector>

#include "distributed_support.h"
#include "effort.h"
#include "expect_error.h"
#include "factored_check.h"
#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {
namespace {

/// Norm of the difference over norm.
double difference(const Matrix& expected, const Matrix& got) {
  if (expected.rows() != got.rows() || expected.cols() != got.cols() || !got.allFinite())
    return std::numeric_limits<double>::infinity();
  const double size = expected.norm();
  return (expected - got).norm() / (size > 0 ? size : 1);
}

constexpr double kTolerance = 1e-9;

void expect_same(const FitState& expected, const FitState& got) {
  ASSERT_EQ(got.history.size(), expected.history.size());
  for (std::size_t t = 0; t < got.history.size(); ++t) {
    EXPECT_NEAR(got.history[t].free_energy / expected.history[t].free_energy, 1, kTolerance) << "iteration " << t;
    EXPECT_EQ(got.history[t].iteration, expected.history[t].iteration);
    EXPECT_EQ(got.history[t].rescues, expected.history[t].rescues) << "iteration " << t;
    EXPECT_NEAR(got.history[t].mean_active / expected.history[t].mean_active, 1, kTolerance) << "iteration " << t;
  }
  const Model &a = expected.model, &b = got.model;
  EXPECT_EQ(a.noise.type(), b.noise.type());
  EXPECT_EQ(a.slab.type(), b.slab.type());
  EXPECT_LT(difference(a.W, b.W), kTolerance);
  EXPECT_LT(difference(a.W_variance, b.W_variance), kTolerance);
  EXPECT_LT(difference(a.pi, b.pi), kTolerance);
  EXPECT_LT(difference(a.mu, b.mu), kTolerance);
  EXPECT_LT(difference(a.slab.values(), b.slab.values()), kTolerance);
  EXPECT_LT(difference(a.noise.values(), b.noise.values()), kTolerance);
  EXPECT_NEAR(got.method.number("basis_divergence", 0), expected.method.number("basis_divergence", 0),
              kTolerance * expected.method.number("basis_divergence", 0));
}

/// The first rank has the model of one process, the others its very bits.
void expect_same(const FitState& expected, const std::vector<FitResult>& got) {
  expect_same(expected, got[0].state);
  for (const FitResult& result : got) {
    EXPECT_TRUE(same_bits(result.model(), got[0].model()));
    EXPECT_EQ(result.reason, got[0].reason);
    EXPECT_EQ(result.last().free_energy, got[0].last().free_energy);
    EXPECT_EQ(result.state.method.number("slab_acceleration", 1), got[0].state.method.number("slab_acceleration", 1));
  }
}

class SameModel : public ::testing::TestWithParam<ModelKnobs> {};
INSTANTIATE_TEST_SUITE_P(Types, SameModel, ::testing::ValuesIn(every_type(8, 10)),
                         [](const auto& test) { return type_name(test.param); });

TEST_P(SameModel, HoweverTheRowsAreShared) {
  for (const Problem& problem : {kMixed, kClustered})
    for (const Init init : {Init::random, Init::data}) {
      const MatrixData data(data_of(problem, GetParam()));
      FitOptions options = options_of(problem, init);
      options.noise = GetParam().noise;
      options.slab = GetParam().slab;
      const FitResult expected = fit(data, options);
      for (const Layout& layout : every_layout(kSanitized ? 3 : 4)) {
        SCOPED_TRACE(::testing::Message() << layout << ", N=" << problem.points << ", init " << to_string(init));
        expect_same(expected.state, fit_in_team(layout, data, options));
        if (HasFailure()) return;
      }
    }
}

TEST(SameModelToo, WithFewerRowsThanRanks) {
  for (const Index points : {2, 3})
    for (const ModelKnobs& knobs : every_type(3, 4)) {
      const Problem problem{points - 1, 4, 3, 2, points};  // with more dimensions full noise becomes singular
      const MatrixData data(data_of(problem, knobs));
      FitOptions options = options_of(problem);
      options.noise = knobs.noise;
      options.slab = knobs.slab;
      if (knobs.noise != NoiseType::full) {
        options.noise_update = Update::paper;  // has sums of its own
        options.intercept = Intercept::mean;
      }
      options.iterations = 2;
      const Model start = model_of(problem, knobs);
      const FitResult expected = fit(data, options, nullptr, start);
      for (const Partition partition : kEveryPartition) {
        SCOPED_TRACE(::testing::Message() << knobs << ", N=" << points << ", " << to_string(partition));
        expect_same(expected.state, fit_in_team({4, 0, partition}, data, options, {}, start));
        expect_same(expected.state, fit_in_team({4, 1, partition}, data, options, {}, start));
      }
    }
}

TEST(SameModelToo, WhenAllPointsHaveTheSameCandidates) {
  const Problem problem{5, 4, 4, 2, 301};
  const MatrixData data(data_of(problem));
  const FitResult expected = fit(data, options_of(problem));
  for (const Layout& layout : every_layout(3)) {
    SCOPED_TRACE(::testing::Message() << layout);
    expect_same(expected.state, fit_in_team(layout, data, options_of(problem)));
  }
}

TEST(SameModelToo, WithTheExactMethod) {
  const MatrixData data(data_of({5, 4, 4, 4, 101}));
  FitOptions options = options_of({5, 4, 4, 4, 101});
  options.inference = exact();
  const FitResult expected = fit(data, options);
  for (int ranks = 1; ranks <= 4; ++ranks)
    expect_same(expected.state, fit_in_team({ranks, 0, Partition::uniform}, data, options));
}

TEST(SameModelToo, ResumedByAnotherNumberOfRanks) {
  const MatrixData data(data_of(kClustered));
  FitOptions options = options_of(kClustered);
  options.slab = SlabType::full;
  const FitResult whole = fit(data, options);
  for (const Layout& layout : every_layout(4)) {
    SCOPED_TRACE(::testing::Message() << layout);
    options.iterations = 9;
    const std::vector<FitResult> half = fit_in_team(layout, data, options);
    options.iterations = 20;
    std::vector<FitResult> both(static_cast<std::size_t>(layout.ranks % 4 + 1));
    in_team({layout.ranks % 4 + 1, layout.per_node, layout.partition}, options, [&](const FitOptions& mine, int rank) {
      both[static_cast<std::size_t>(rank)] = resume(data, mine, half[0].state);
    });
    expect_same(whole.state, both);
  }
}

/// Keeps every state, with the codes.
struct CodeRecorder : Recorder {
  bool needs_method_state(const FitState&) override { return true; }
};

TEST(FactoredTeam, LearnsTheSameModelAndCodes) {
  const MatrixData data(data_of({6, 4, 4, 4, 83}));
  for (const Setting& setting : every_setting()) {
    const FitOptions options = fit_options(setting, 4, 8);
    CodeRecorder expected;
    const FitResult alone = fit(data, options, &expected);
    for (const int ranks : {1, 2, 3, 4}) {
      SCOPED_TRACE(::testing::Message() << setting << ", " << ranks << " ranks");
      std::vector<CodeRecorder> recorders(static_cast<std::size_t>(ranks));
      std::vector<Watcher*> watchers;
      for (CodeRecorder& recorder : recorders) watchers.push_back(&recorder);
      const std::vector<FitResult> results = fit_in_team({ranks, 0, Partition::uniform}, data, options, watchers);
      expect_same(alone.state, results);
      EXPECT_LT(difference(alone.state.method.column("codes"), results[0].state.method.column("codes")), kTolerance);
      for (std::size_t r = 1; r < results.size(); ++r) EXPECT_EQ(results[r].state.method.column("codes").size(), 0);
      ASSERT_EQ(recorders[0].states.size(), expected.states.size());
      for (std::size_t t = 0; t < expected.states.size(); ++t)
        EXPECT_LT(difference(expected.states[t].method.column("codes"), recorders[0].states[t].method.column("codes")),
                  kTolerance)
            << "iteration " << t;
    }
  }
}

TEST(FactoredTeam, LearnsFromFewerRowsThanRanks) {
  const MatrixData data(data_of({4, 3, 3, 3, 3}));
  const FitOptions options = fit_options({}, 3, 3);
  const FitResult expected = fit(data, options);
  const std::vector<FitResult> results = fit_in_team({4, 0, Partition::uniform}, data, options);
  expect_same(expected.state, results);
  EXPECT_LT(difference(expected.state.method.column("codes"), results[0].state.method.column("codes")), kTolerance);
}

TEST(FactoredTeam, ResumesWithAnotherNumberOfRanks) {
  const MatrixData data(data_of({6, 4, 4, 4, 83}));
  const FitOptions options = fit_options({.order = SweepOrder::random}, 4, 12);
  FitOptions first = options;
  first.iterations = 5;
  const FitResult whole = fit(data, options);
  const std::vector<FitResult> half = fit_in_team({4, 0, Partition::uniform}, data, first);
  for (const int ranks : {1, 2, 3, 4}) {
    SCOPED_TRACE(::testing::Message() << ranks << " ranks");
    std::vector<FitResult> both(static_cast<std::size_t>(ranks));
    in_team({ranks, 0, Partition::uniform}, options, [&](const FitOptions& mine, int rank) {
      both[static_cast<std::size_t>(rank)] = resume(data, mine, half[0].state);
    });
    expect_same(whole.state, both);
    EXPECT_LT(difference(whole.state.method.column("codes"), both[0].state.method.column("codes")), kTolerance);
  }
}

TEST(FactoredTeam, ResumesFromWhatEveryRankWasGiven) {
  // fit() leaves the codes on the root only, so its result must do as a state on the other ranks too.
  const MatrixData data(data_of({6, 4, 4, 4, 83}));
  const FitOptions options = fit_options({}, 4, 12);
  const FitResult whole = fit(data, options);
  std::vector<FitResult> both(3);
  in_team({3, 0, Partition::uniform}, options, [&](const FitOptions& mine, int rank) {
    FitOptions first = mine;
    first.iterations = 5;
    both[static_cast<std::size_t>(rank)] = resume(data, mine, fit(data, first).state);
  });
  expect_same(whole.state, both);
}

TEST(RootDataInATeam, IsLearnedFromAsIfAllHadIt) {
  const Matrix values = data_of(kClustered);
  const FitResult expected = fit(MatrixData(values), options_of(kClustered));
  for (const Layout& layout : every_layout(4)) {
    SCOPED_TRACE(::testing::Message() << layout);
    std::vector<FitResult> results(static_cast<std::size_t>(layout.ranks));
    in_team(layout, options_of(kClustered), [&](const FitOptions& mine, int rank) {
      const RootData data(*mine.sharing.team, rank == 0 ? std::make_unique<MatrixData>(values, "table") : nullptr);
      EXPECT_EQ(data.name(), "table");
      Matrix row(1, values.cols());
      if (rank == 0)
        data.read(7, row);
      else
        expect_error<Error>([&] { data.read(7, row); }, {"table: only the first process", "holds this data"});
      results[static_cast<std::size_t>(rank)] = fit(data, mine);
    });
    expect_same(expected.state, results);
  }
}

TEST(TeamReport, CountsRowsThatMoved) {
  const MatrixData data(data_of(kClustered));
  for (const Layout& layout : every_layout(4)) {
    SCOPED_TRACE(::testing::Message() << layout);
    const std::vector<FitResult> results = fit_in_team(layout, data, options_of(kClustered));
    for (const FitResult& result : results) {
      const SharingReport& report = result.sharing;
      EXPECT_EQ(report.rows_moved > 0, layout.partition == Partition::global && layout.ranks > 1);
      EXPECT_EQ(report.rows_sent > 0, layout.per_node > 0);
      EXPECT_LE(report.rows_sent, report.rows_moved);
      EXPECT_EQ(report.rows_moved, results[0].sharing.rows_moved);
      EXPECT_EQ(report.clusters > 0, layout.partition != Partition::uniform);
      EXPECT_EQ(report.rows_in_clusters > 0, layout.partition != Partition::uniform);
      EXPECT_LE(report.rows_in_clusters, 2000);
    }
  }
}

}  // namespace
}  // namespace gsc::test
