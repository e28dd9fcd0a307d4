// A team of threads that cannot go on: a failure of one rank, or its wish to stop, is one of all.

#include <gsc/fit.h>
#include <gsc/team.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "distributed_support.h"
#include "expect_error.h"
#include "factored_check.h"

namespace gsc::test {
namespace {

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
      all_or_none(*mine.sharing.team, [&] {
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
  const auto refused = [&](const auto& change, Parts parts) {
    FitOptions options = options_of(kMixed);
    change(options);
    const std::string message = error_of<UsageError>([&] { fit(data, options); });
    expect_says(message, parts);
    EXPECT_EQ(fit_outcomes(2, data, options), Texts(2, "UsageError: " + message));
  };
  for (const Method method : {Method::exact, Method::factored})
    for (const Partition partition : {Partition::local, Partition::global})
      refused(
          [&](FitOptions& options) {
            options.inference.method = method;
            options.sharing.partition = partition;
          },
          {"partition is " + std::string(to_string(partition)), std::string(to_string(method)) + " method",
           "choose the truncated method"});
  for (const auto& [alpha, text] : {std::pair{-0.1, "alpha is -0.1"}, std::pair{100.1, "alpha is 100.1"},
                                    std::pair{std::numeric_limits<double>::quiet_NaN(), "alpha is nan"}})
    refused([&, value = alpha](FitOptions& options) { options.sharing.alpha = value; }, {text, "0 to 100"});
  refused([](FitOptions& options) { options.iterations = -1; }, {"iterations is -1", "must not be negative"});
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
    expect_error<std::out_of_range>(
        [&] {
          in_team({3, 1, partition}, options_of(kMixed), leave);
        },
        {"rank 1 has left"});
  }
}

TEST(FactoredTeam, RefusesCodesOfOtherData) {
  const FitOptions options = fit_options({}, 4, 3);
  const FitResult other = fit(MatrixData(data_of({6, 4, 4, 4, 60})), options);
  const MatrixData data(data_of({6, 4, 4, 4, 83}));
  expect_error<UsageError>([&] { resume(data, options, other.state); },
                           {"4 latents and 60 data points", "there are 4 and 83", "the data they were learned from"});
  for (const int ranks : {2, 3})
    expect_error<UsageError>(
        [&] {
          in_team({ranks, 0, Partition::uniform}, options,
                  [&](const FitOptions& mine, int) { resume(data, mine, other.state); });
        },
        {"60 data points", "there are 83", "the data they were learned from"});
}

TEST(RootDataInATeam, MayBeEmpty) {
  for (const Matrix& values : {Matrix(0, 3), Matrix(3, 0), Matrix(0, 0)})
    for (const std::string& text : root_outcomes(2, MatrixData(values), options_of(kMixed)))
      EXPECT_EQ(text.find("Error: data: the data is empty"), 0U) << text;
}

/// Asks to stop once there are so many rows of history.
struct Stopper : Watcher {
  explicit Stopper(std::size_t wanted) : rows(wanted) {}
  void on_iteration(const FitState& state) override { stop = state.history.size() >= rows; }
  bool stop_requested() override { return stop; }
  std::size_t rows;
  bool stop = false;
};

void expect_stop(const Layout& layout, const Data& data, const FitOptions& options, std::size_t at) {
  Stopper stopper(4);
  std::vector<Watcher*> watchers(static_cast<std::size_t>(layout.ranks));
  watchers[at] = &stopper;
  const std::vector<FitResult> results = fit_in_team(layout, data, options, watchers);
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

}  // namespace
}  // namespace gsc::test
