// Learning in a team: the same model as in one process, however the rows are shared, and a failure of one rank is one
// of all. The ranks are threads; what makes them nodes is that rows go from one to another as bytes only.

#include <gsc/fit.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <thread>

#include "distributed/thread_team.h"
#include "distributed/together.h"
#include "factored_check.h"
#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {
namespace {

struct Layout {
  int ranks;
  int per_node;  ///< 0: one node
  Partition partition;
};
std::ostream& operator<<(std::ostream& out, const Layout& layout) {
  return out << layout.ranks << " ranks, " << layout.per_node << " per node, " << to_string(layout.partition);
}

constexpr Partition kEveryPartition[] = {Partition::uniform, Partition::local, Partition::global};

/// Nodes matter only to the global partition.
std::vector<Layout> every_layout(int most_ranks) {
  std::vector<Layout> all;
  for (int ranks = 1; ranks <= most_ranks; ++ranks) {
    for (const Partition partition : kEveryPartition) all.push_back({ranks, 0, partition});
    for (int per_node = 1; per_node < std::min(ranks, 3); ++per_node)
      all.push_back({ranks, per_node, Partition::global});
  }
  return all;
}

/// Calls body(options, rank) on every rank, with options that share among the team.
void in_team(const Layout& layout, FitOptions options, const std::function<void(const FitOptions&, int)>& body) {
  options.sharing.partition = layout.partition;
  run_ranks(layout.ranks, layout.per_node, [&](Team& team) {
    FitOptions mine = options;
    mine.sharing.team = &team;
    body(mine, team.rank());
  });
}

/// What fit() returns on every rank. observers: none, or one for each rank.
std::vector<FitResult> fit_in_team(const Layout& layout, const Data& data, const FitOptions& options,
                                   std::vector<Observer*> observers = {}, const std::optional<Model>& start = {}) {
  observers.resize(static_cast<std::size_t>(layout.ranks));
  std::vector<FitResult> results(observers.size());
  in_team(layout, options, [&](const FitOptions& mine, int rank) {
    const auto r = static_cast<std::size_t>(rank);
    results[r] = fit(data, mine, observers[r], start);
  });
  return results;
}

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
  EXPECT_NEAR(got.factored.basis_divergence, expected.factored.basis_divergence,
              kTolerance * expected.factored.basis_divergence);
}

bool same_bits(const Model& a, const Model& b) {
  return a.W == b.W && a.W_variance == b.W_variance && a.pi == b.pi && a.mu == b.mu &&
         a.slab.values() == b.slab.values() && a.noise.values() == b.noise.values();
}

/// The first rank has the model of one process, the others its very bits.
void expect_same(const FitState& expected, const std::vector<FitResult>& got) {
  expect_same(expected, got[0].state);
  for (const FitResult& result : got) {
    EXPECT_TRUE(same_bits(result.model(), got[0].model()));
    EXPECT_EQ(result.reason, got[0].reason);
    EXPECT_EQ(result.last().free_energy, got[0].last().free_energy);
    EXPECT_EQ(result.state.slab_acceleration, got[0].state.slab_acceleration);
  }
}

struct Problem {
  Index dimensions, latents, candidates, max_active, points;
};
constexpr Problem kMixed{8, 10, 5, 3, 403};      // hardly two points with the same candidates
constexpr Problem kClustered{6, 6, 3, 2, 2000};  // 20 candidate sets at most

Model model_of(const Problem& problem, ModelKnobs knobs = {}) {
  knobs.dimensions = problem.dimensions;
  knobs.latents = problem.latents;
  knobs.pi_low = 0.1;
  knobs.pi_high = 0.3;
  return random_model(knobs, 5);
}

Matrix data_of(const Problem& problem, const ModelKnobs& knobs = {}) {
  return random_data(model_of(problem, knobs), problem.points, 6);
}

FitOptions options_of(const Problem& problem, Init init = Init::data) {
  FitOptions options;
  options.latents = problem.latents;
  options.inference = truncated(problem.candidates, problem.max_active, Selection::conditional, 1);
  options.init = init;
  options.iterations = 20;
  options.tolerance = 0;
  return options;
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
      for (const Layout& layout : every_layout(4)) {
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
      if (knobs.noise != NoiseType::full) options.noise_update = Update::paper;  // has sums of its own
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
  bool needs_codes(const FitState&) override { return true; }
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
      std::vector<Observer*> observers;
      for (CodeRecorder& recorder : recorders) observers.push_back(&recorder);
      const std::vector<FitResult> results = fit_in_team({ranks, 0, Partition::uniform}, data, options, observers);
      expect_same(alone.state, results);
      EXPECT_LT(difference(alone.state.factored.codes, results[0].state.factored.codes), kTolerance);
      for (std::size_t r = 1; r < results.size(); ++r) EXPECT_EQ(results[r].state.factored.codes.size(), 0);
      ASSERT_EQ(recorders[0].states.size(), expected.states.size());
      for (std::size_t t = 0; t < expected.states.size(); ++t)
        EXPECT_LT(difference(expected.states[t].factored.codes, recorders[0].states[t].factored.codes), kTolerance)
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
  EXPECT_LT(difference(expected.state.factored.codes, results[0].state.factored.codes), kTolerance);
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
    EXPECT_LT(difference(whole.state.factored.codes, both[0].state.factored.codes), kTolerance);
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

TEST(FactoredTeam, RefusesCodesOfOtherData) {
  const FitOptions options = fit_options({}, 4, 3);
  const FitResult other = fit(MatrixData(data_of({6, 4, 4, 4, 60})), options);
  const MatrixData data(data_of({6, 4, 4, 4, 83}));
  EXPECT_THROW(resume(data, options, other.state), UsageError);
  for (const int ranks : {2, 3})
    EXPECT_THROW(in_team({ranks, 0, Partition::uniform}, options,
                         [&](const FitOptions& mine, int) { resume(data, mine, other.state); }),
                 UsageError);
}

using Texts = std::vector<std::string>;

std::string described(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Interrupted& error) {
    return std::string("Interrupted: ") + error.what();
  } catch (const UsageError& error) {
    return std::string("UsageError: ") + error.what();
  } catch (const Error& error) {
    return std::string("Error: ") + error.what();
  } catch (const std::bad_alloc&) {
    return "bad_alloc";
  }
}

/// What body does on each rank: "ok" or the exception, as "type: message".
Texts outcomes(int ranks, const FitOptions& options, const std::function<void(const FitOptions&, int)>& body) {
  Texts texts(static_cast<std::size_t>(ranks), "ok");
  std::atomic<int> ended = 0;
  in_team({ranks, 0, options.sharing.partition}, options, [&](const FitOptions& mine, int rank) {
    try {
      body(mine, rank);
    } catch (...) {
      texts[static_cast<std::size_t>(rank)] = described(std::current_exception());
    }
    ++ended;
    for (int i = 0; i < 2000 && ended < ranks; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (ended < ranks) throw Error("some ranks ended, others wait for them");
  });
  return texts;
}

Texts fit_outcomes(int ranks, const Data& data, const FitOptions& options) {
  return outcomes(ranks, options, [&](const FitOptions& mine, int) { fit(data, mine); });
}

/// If only the root has the data.
Texts root_outcomes(int ranks, const MatrixData& data, const FitOptions& options) {
  return outcomes(ranks, options, [&](const FitOptions& mine, int rank) {
    fit(RootData(*mine.sharing.team, rank == 0 ? std::make_unique<MatrixData>(data) : nullptr), mine);
  });
}

TEST(Together, FailsOnAllRanksAsTheFirstThatFailed) {
  const auto result = [](const std::map<int, std::function<void()>>& parts) {
    return outcomes(4, {}, [&](const FitOptions& mine, int rank) {
      together(*mine.sharing.team, [&] {
        if (parts.contains(rank)) parts.at(rank)();
      });
    });
  };
  const auto interrupted = [] { throw Interrupted("by the user"); };
  const auto usage = [] { throw UsageError("alpha"); };
  const auto error = [] { throw Error("disk full"); };
  const auto foreign = [] { throw std::out_of_range("foreign"); };
  const auto memory = [] { throw std::bad_alloc(); };
  EXPECT_EQ(result({}), Texts(4, "ok"));
  EXPECT_EQ(result({{1, interrupted}}), Texts(4, "Interrupted: by the user"));
  EXPECT_EQ(result({{3, usage}}), Texts(4, "UsageError: alpha"));
  EXPECT_EQ(result({{0, error}}), Texts(4, "Error: disk full"));
  EXPECT_EQ(result({{2, foreign}}), Texts(4, "Error: foreign"));
  EXPECT_EQ(result({{2, memory}}), Texts(4, "bad_alloc"));
  EXPECT_EQ(result({{1, interrupted}, {2, error}}), Texts(4, "Error: disk full")) << "it tells more";
  EXPECT_EQ(result({{1, usage}, {2, interrupted}}), Texts(4, "UsageError: alpha"));
  EXPECT_EQ(result({{1, usage}, {2, error}}), Texts(4, "UsageError: alpha"));
  EXPECT_EQ(result({{0, interrupted}, {2, memory}, {3, error}}), Texts(4, "bad_alloc"));
}

TEST(TeamFailure, OptionsAreJudgedBeforeAnyWork) {
  const MatrixData data(data_of(kMixed));
  const auto refused = [&](const auto& change, const std::string& name) {
    FitOptions options = options_of(kMixed);
    change(options);
    EXPECT_THROW(fit(data, options), UsageError) << name;
    for (const std::string& text : fit_outcomes(2, data, options)) {
      EXPECT_EQ(text.find("UsageError: "), 0U) << text;
      EXPECT_NE(text.find(name), std::string::npos) << text;
    }
  };
  for (const Method method : {Method::exact, Method::factored})
    for (const Partition partition : {Partition::local, Partition::global})
      refused(
          [&](FitOptions& options) {
            options.inference.method = method;
            options.sharing.partition = partition;
          },
          "partition");
  for (const double alpha : {-0.1, 100.1, std::numeric_limits<double>::quiet_NaN()})
    refused([&](FitOptions& options) { options.sharing.alpha = alpha; }, "alpha");
  refused([](FitOptions& options) { options.iterations = -1; }, "iterations");
}

TEST(TeamFailure, NamesTheRowThatIsNotANumber) {
  Matrix values = data_of({4, 4, 3, 2, 42});  // 4 ranks: 11, 11, 10, 10 rows
  values(24, 1) = std::numeric_limits<double>::quiet_NaN();
  values(37, 0) = std::numeric_limits<double>::infinity();
  const MatrixData data(values, "table.npy");
  for (const Partition partition : kEveryPartition) {
    FitOptions options = options_of({4, 4, 3, 2, 42});
    options.sharing.partition = partition;
    const std::string alone = fit_outcomes(1, data, options)[0];
    EXPECT_EQ(alone.find("Error: table.npy: row 24, column 1"), 0U) << alone;
    EXPECT_EQ(fit_outcomes(4, data, options), Texts(4, alone));
    EXPECT_EQ(root_outcomes(4, data, options), Texts(4, alone));
  }
}

/// Cannot read a row when it is asked for it the `fatal`th time.
class FailingData final : public Data {
 public:
  FailingData(Matrix values, Index row, int fatal) : values_(std::move(values)), row_(row), fatal_(fatal) {}
  Index rows() const override { return values_.rows(); }
  Index cols() const override { return values_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    if (first <= row_ && row_ < first + block.rows() && ++reads_ == fatal_) throw Error("the disk is gone");
    values_.read(first, block);
  }

 private:
  MatrixData values_;
  Index row_;
  int fatal_;
  mutable std::atomic<int> reads_ = 0;
};

TEST(TeamFailure, OfADiskIsOneOfAll) {
  const Problem problem{4, 4, 3, 2, 42};
  for (const Partition partition : kEveryPartition) {
    FitOptions options = options_of(problem, Init::random);
    options.sharing.partition = partition;
    const int fatal = partition == Partition::uniform ? 3 : 1;  // the others read once, into memory
    EXPECT_EQ(fit_outcomes(4, FailingData(data_of(problem), 30, fatal), options), Texts(4, "Error: the disk is gone"));
    EXPECT_EQ(fit_outcomes(4, FailingData(data_of(problem), 30, 1000), options), Texts(4, "ok")) << "it can read";
  }
}

TEST(TeamFailure, OutsideOfLearningEndsTheTeam) {
  const MatrixData data(data_of(kMixed));
  for (const Partition partition : kEveryPartition) {
    const auto leave = [&](const FitOptions& mine, int rank) {
      if (rank == 1) throw std::out_of_range("rank 1 has left");
      fit(data, mine);
    };
    EXPECT_THROW(in_team({3, 1, partition}, options_of(kMixed), leave), std::out_of_range);
  }
}

/// Asks to stop once there are so many rows of history.
struct Stopper : Observer {
  explicit Stopper(std::size_t wanted) : rows(wanted) {}
  void on_iteration(const FitState& state) override { stop = state.history.size() >= rows; }
  bool stop_requested() override { return stop; }
  std::size_t rows;
  bool stop = false;
};

void expect_stop(const Layout& layout, const Data& data, const FitOptions& options, std::size_t at) {
  Stopper stopper(4);
  std::vector<Observer*> observers(static_cast<std::size_t>(layout.ranks));
  observers[at] = &stopper;
  const std::vector<FitResult> results = fit_in_team(layout, data, options, observers);
  for (const FitResult& result : results) {
    EXPECT_EQ(result.reason, StopReason::interrupted);
    EXPECT_EQ(result.state.history.size(), 4U);
    EXPECT_TRUE(same_bits(result.model(), results[0].model()));
  }
}

TEST(TeamStop, IsOneOfAllRanks) {
  const MatrixData data(data_of(kClustered));
  for (const Layout& layout : every_layout(4)) {
    SCOPED_TRACE(::testing::Message() << layout);
    expect_stop(layout, data, options_of(kClustered), static_cast<std::size_t>(layout.ranks) - 1);
  }
  expect_stop({3, 0, Partition::uniform}, data, fit_options({}, 4, 20), 1);
}

TEST(TeamStop, IsHeardFromARankWithoutRows) {
  expect_stop({4, 0, Partition::uniform}, MatrixData(data_of({4, 3, 3, 3, 3})), fit_options({}, 3, 20), 3);
  expect_stop({4, 0, Partition::uniform}, MatrixData(data_of({4, 3, 3, 3, 3})), options_of({4, 3, 3, 3, 3}), 3);
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
        EXPECT_THROW(data.read(7, row), Error);
      results[static_cast<std::size_t>(rank)] = fit(data, mine);
    });
    expect_same(expected.state, results);
  }
}

TEST(RootDataInATeam, MayBeEmpty) {
  for (const Matrix& values : {Matrix(0, 3), Matrix(3, 0), Matrix(0, 0)})
    for (const std::string& text : root_outcomes(2, MatrixData(values), options_of(kMixed)))
      EXPECT_EQ(text.find("Error: data: the data is empty"), 0U) << text;
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
