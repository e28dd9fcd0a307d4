// Several starts: the best wins, whoever runs them.

#include <gsc/restarts.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "distributed/thread_team.h"
#include "expect_error.h"
#include "separate_support.h"

namespace gsc::test {
namespace {

class Starts : public ::testing::Test {
 protected:
  Starts() : data_((mixing(3) * laplace(3, 300, 3)).transpose()) {
    options_.latents = 3;
    options_.inference.method = Method::exact;
    options_.init = Init::random;
    options_.iterations = 30;
    options_.seed = 11;
  }
  MatrixData data_;
  FitOptions options_;
};

TEST_F(Starts, TheBestWinsWhateverTheNumberOfThreads) {
  Restarts results[2];
  for (const int i : {0, 1}) {
    options_.inference.threads = i + 1;
    results[i] = fit_restarts(data_, options_, 5);
  }
  const std::vector<double>& energies = results[0].free_energies;
  EXPECT_EQ(energies, results[1].free_energies);
  EXPECT_EQ(results[0].best.model().W, results[1].best.model().W);
  ASSERT_EQ(energies.size(), 5u);
  const auto best = std::max_element(energies.begin(), energies.end());
  EXPECT_EQ(results[0].best.last().free_energy, *best);
  EXPECT_EQ(results[0].winner, best - energies.begin());
  options_.inference.threads = 1;
  for (const std::uint64_t i : {0, 1, 2, 3, 4}) {
    FitOptions single = options_;
    single.seed = 11 + i;
    const FitResult alone = fit(data_, single);
    EXPECT_EQ(alone.last().free_energy, energies[i]) << "start " << i;
    if (static_cast<int>(i) == results[0].winner) {
      EXPECT_EQ(alone.model().W, results[0].best.model().W);
    }
  }
}

/// A single draw says nothing: the mean over the draws does.
TEST_F(Starts, OfDrawsAreComparedByTheirMeans) {
  options_.inference.method = Method::beta_process;
  options_.beta_process.burn_in = 10;
  options_.iterations = 20;
  const Restarts starts = fit_restarts(data_, options_, 4);
  std::vector<double> means;
  for (std::uint64_t i = 0; i < 4; ++i) {
    FitOptions single = options_;
    single.seed = 11 + i;
    single.inference.threads = 1;
    means.push_back(fit(data_, single).state.method.numbers.at("mean_log_joint"));
  }
  EXPECT_EQ(starts.free_energies, means);
  EXPECT_EQ(starts.winner, std::max_element(means.begin(), means.end()) - means.begin());
  EXPECT_EQ(starts.best.state.method.arrays.at("averages")(0, 1), means[static_cast<std::size_t>(starts.winner)]);
}

TEST_F(Starts, AreComparedByExactFreeEnergies) {
  options_.batch = 30;
  options_.polish = 0;
  options_.iterations = 5;
  options_.inference.threads = 1;
  EXPECT_TRUE(fit_restarts(data_, options_, 1).best.last().estimated) << "a single start is compared with nothing";
  const Restarts several = fit_restarts(data_, options_, 4);
  EXPECT_FALSE(several.best.last().estimated);
  EXPECT_EQ(several.best.state.history[4].estimated, true);
  const double exactly = e_step(several.best.model(), data_, options_.inference).free_energy;
  EXPECT_NEAR(several.best.last().free_energy / exactly, 1, 1e-12);
  EXPECT_EQ(several.best.last().free_energy,
            *std::max_element(several.free_energies.begin(), several.free_energies.end()));
}

TEST_F(Starts, ATeamFindsTheSameAlsoIfOnlyTheRootHasTheData) {
  options_.inference.threads = 1;
  options_.tolerance = 0;
  const Restarts alone = fit_restarts(data_, options_, 3);
  for (const bool root_only : {false, true})
    run_ranks(2, 0, [&](Team& team) {
      FitOptions options = options_;
      options.sharing.team = &team;
      const RootData of_root(team, team.root() ? std::make_unique<MatrixData>(data_) : nullptr);
      const Restarts shared = fit_restarts(root_only ? static_cast<const Data&>(of_root) : data_, options, 3);
      EXPECT_EQ(shared.winner, alone.winner);
      ASSERT_EQ(shared.free_energies.size(), 3u);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_NEAR(shared.free_energies[i], alone.free_energies[i], 1e-6 * std::abs(alone.free_energies[i]));
      EXPECT_LT((shared.best.model().W - alone.best.model().W).cwiseAbs().maxCoeff(), 1e-6);
    });
}

/// Counts, and would be damaged by two calls at a time (which the thread sanitizer or the counts would show).
class Counter final : public Watcher {
 public:
  explicit Counter(int stop_after = 1 << 30) : stop_after_(stop_after) {}
  void on_iteration(const FitState&) override { ++rows; }
  bool stop_requested() override { return rows >= stop_after_; }
  int rows = 0;

 private:
  int stop_after_;
};

TEST_F(Starts, WatcherSeesEveryRowAndCanStop) {
  options_.tolerance = 0;
  options_.inference.threads = 2;
  Counter all;
  EXPECT_EQ(fit_restarts(data_, options_, 4, &all).best.reason, StopReason::iterations);
  EXPECT_EQ(all.rows, 4 * 31);

  Counter some(40);
  const Restarts stopped = fit_restarts(data_, options_, 4, &some);
  EXPECT_EQ(stopped.best.reason, StopReason::interrupted);
  EXPECT_LT(some.rows, 45);
  ASSERT_EQ(stopped.free_energies.size(), 4u);
  EXPECT_TRUE(std::isnan(stopped.free_energies[3])) << "the last start was never begun";

  Counter none(0);
  expect_error<Interrupted>([&] { fit_restarts(data_, options_, 4, &none); },
                            {"interrupted before the first iteration"});
}

/// A column that nobody has, and a noise level that is assumed: all starts say both, which are told once each.
TEST_F(Starts, EveryNoteIsToldOnce) {
  class Notes final : public Watcher {
   public:
    void on_note(const std::string& note) override { notes.push_back(note); }
    std::vector<std::string> notes;
  } told;
  Matrix rows(data_.rows(), data_.cols() + 1);
  Matrix values(data_.rows(), data_.cols());
  data_.read(0, values);
  rows << values, Matrix::Constant(values.rows(), 1, std::numeric_limits<double>::quiet_NaN());
  FitOptions options = options_;
  options.inference = {};
  options.inference.method = Method::ksvd;
  options.inference.missing = Missing::nan;
  options.iterations = 2;
  fit_restarts(MatrixData(rows), options, 3, &told);
  EXPECT_GE(told.notes.size(), 2U);
  EXPECT_EQ(std::set<std::string>(told.notes.begin(), told.notes.end()).size(), told.notes.size());
}

TEST_F(Starts, ErrorsOfAllStartsAreReported) {
  expect_error<UsageError>([&] { fit_restarts(data_, options_, 0); }, {"restarts is 0", "at least 1"});
  expect_error<Error>([&] { fit_restarts(MatrixData(Matrix::Ones(10, 3), "ones"), options_, 3); },
                      {"ones: all rows are equal", "nothing to learn"});
}

/// Bad for the starts that pick it up: reads fail when row 0 is asked for the given time.
class FailingOnce final : public Data {
 public:
  explicit FailingOnce(const Data& data) : data_(data) {}
  Index rows() const override { return data_.rows(); }
  Index cols() const override { return data_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    if (++reads_ == 30) throw Error("out of range");
    data_.read(first, block);
  }

 private:
  const Data& data_;
  mutable int reads_ = 0;
};

TEST_F(Starts, AStartThatFailsIsSkipped) {
  options_.inference.threads = 1;
  options_.tolerance = 0;
  const std::vector<double> whole = fit_restarts(data_, options_, 3).free_energies;
  const auto [best, winner, energies, noise_stds] = fit_restarts(FailingOnce(data_), options_, 3);
  EXPECT_EQ(std::count_if(energies.begin(), energies.end(), [](double f) { return std::isnan(f); }), 1);
  EXPECT_TRUE(std::isnan(energies[0]));
  EXPECT_TRUE(std::isnan(noise_stds[0]));
  EXPECT_EQ(best.last().free_energy, std::max(whole[1], whole[2]));
  EXPECT_EQ(winner, whole[1] >= whole[2] ? 1 : 2);
  EXPECT_EQ(best.reason, StopReason::iterations);
}

TEST(CompareStarts, CountsThoseNearTheBestAndThoseThatFailed) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const StartsSummary summary = compare_starts({-5, -10, nan, -5.5, -6.5});
  EXPECT_EQ(summary.range, 5);
  EXPECT_EQ(summary.near, 2);
  EXPECT_EQ(summary.failed, 1);
}

}  // namespace
}  // namespace gsc::test
