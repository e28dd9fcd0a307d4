// Every experiment of the paper in its quick version: it runs, writes what it promises, and its claims hold.

#include <gtest/gtest.h>

#include <fstream>

#include "reproduce.h"
#include "statistics.h"

namespace gsc::experiments {
namespace {

namespace fs = std::filesystem;

/// An empty folder, gone at the end.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("gsc-reproduce-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Json read_json(const fs::path& file) {
  std::ifstream in(file);
  return Json::parse(in);
}

Request quick_request() {
  Request request;
  request.quick = true;
  request.threads = 2;
  return request;
}

class Quick : public testing::TestWithParam<std::string> {};

TEST_P(Quick, RunsAndItsClaimsHold) {
  const Experiment& experiment = find_experiment(GetParam());
  const Folder folder;
  const Outcome outcome = reproduce(experiment, quick_request(), folder.path());
  int asserted = 0;
  for (const Claim& claim : outcome.summary.claims) {
    EXPECT_TRUE(claim.holds || !claim.quick_too) << claim.text;
    asserted += claim.quick_too ? 1 : 0;
  }
  EXPECT_GT(asserted, 0);
  const Json json = read_json(folder.path() / (GetParam() + ".quick.json"));
  EXPECT_EQ(json["experiment"], GetParam());
  EXPECT_EQ(json["runs"].size(), static_cast<std::size_t>(outcome.trials));
  EXPECT_FALSE(json["figures"].empty());
  EXPECT_TRUE(fs::file_size(folder.path() / (GetParam() + ".quick.html")) > 1000);

  // Again: nothing is run, and the same comes out.
  const Outcome again = reproduce(experiment, quick_request(), folder.path());
  EXPECT_EQ(again.seconds, outcome.seconds);
  EXPECT_EQ(read_json(folder.path() / (GetParam() + ".quick.json")), json);
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& experiment : all_experiments()) all.push_back(experiment->name());
  return all;
}

INSTANTIATE_TEST_SUITE_P(Experiments, Quick, testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::erase(name, '-');
  return name;
});

/// Counts its runs.
class Counting final : public Experiment {
 public:
  std::string name() const override { return "counting"; }
  std::string place() const override { return "nowhere"; }
  std::string title() const override { return "Counting"; }
  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    for (int i = 0; i < request.repetitions(4, 2); ++i)
      all.push_back({{"seed", request.seed + static_cast<unsigned>(i)}});
    return all;
  }
  Json run(const Json& settings, const Request&) const override {
    ++runs;
    if (settings["seed"] == fails) throw Error("seed out of luck");
    return {{"twice", 2 * settings["seed"].get<int>()}};
  }
  Summary summarise(const std::vector<Finished>& trials, const Request&, Report&) const override {
    return {{{"mean", spread_of(trials, Json::object(), "twice").mean}}, {}};
  }
  mutable std::atomic<int> runs = 0;
  int fails = -1;
};

TEST(Trials, FinishedOnesAreNotRunAgain) {
  const Folder folder;
  const fs::path file = folder.path() / "trials";
  Counting experiment;
  Request request;
  request.trials = 3;
  EXPECT_EQ(run_trials(experiment, request, file, {}).size(), 3U);
  std::ofstream(file, std::ios::app) << "{\"settings\": {\"seed\":";  // as if the machine had died
  request.trials = 5;
  const std::vector<Finished> all = run_trials(experiment, request, file, {});
  EXPECT_EQ(experiment.runs, 5);
  ASSERT_EQ(all.size(), 5U);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(all[static_cast<std::size_t>(i)].settings["seed"], 1 + i);
    EXPECT_EQ(all[static_cast<std::size_t>(i)].result["twice"], 2 * (1 + i));
  }
  EXPECT_EQ(read_trials(file).size(), 5U);
}

TEST(Trials, AFailureNamesItsSettingsAndKeepsTheOthers) {
  const Folder folder;
  const fs::path file = folder.path() / "trials";
  Counting experiment;
  experiment.fails = 3;
  Request request;
  request.trials = 3;
  try {
    run_trials(experiment, request, file, {});
    FAIL() << "no exception";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("counting, trial {\"seed\":3}: seed out of luck"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(read_trials(file).size(), 2U);
}

TEST(Trials, StoppingKeepsWhatIsFinished) {
  const Folder folder;
  const fs::path file = folder.path() / "trials";
  const Counting experiment;
  Request request;
  request.trials = 4;
  EXPECT_THROW(run_trials(experiment, request, file, [](const TrialsProgress& now) { return now.done < 2; }),
               Interrupted);
  EXPECT_EQ(read_trials(file).size(), 2U);
}

TEST(Trials, SpreadsAreThoseOfTheChosenTrials) {
  const std::vector<Finished> trials = {
      {{{"a", 1}}, {{"x", 1.0}}, 0}, {{{"a", 1}}, {{"x", 4.0}}, 0}, {{{"a", 2}}, {{"x", 9.0}}, 0}};
  const Spread spread = spread_of(trials, {{"a", 1}}, "x");
  EXPECT_EQ(spread.count, 2);
  EXPECT_DOUBLE_EQ(spread.mean, 2.5);
  EXPECT_DOUBLE_EQ(spread.median, 2.5);
  EXPECT_DOUBLE_EQ(spread.error, 1.5);
  EXPECT_DOUBLE_EQ(spread.best, 1);
  EXPECT_DOUBLE_EQ(spread.worst, 4);
}

TEST(Reproduce, AnUnknownNameAndMissingDataAreToldApart) {
  try {
    find_experiment("figure9");
    FAIL() << "no exception";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("consistency"), std::string::npos);
  }
  Request request;
  EXPECT_EQ(missing_file(find_experiment("table2"), request), "images/house256.png");
  EXPECT_EQ(missing_file(find_experiment("consistency"), request), "");
  request.quick = true;
  EXPECT_EQ(missing_file(find_experiment("table2"), request), "");
}

}  // namespace
}  // namespace gsc::experiments
