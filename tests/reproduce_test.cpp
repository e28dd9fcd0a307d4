// Every experiment of the paper in its quick version: it runs, writes what it promises, and its claims hold.

#include <gtest/gtest.h>

#include <fstream>

#include "expect_error.h"
#include "reproduce.h"
#include "run_program.h"
#include "statistics.h"

namespace gsc::experiments {
namespace {

namespace fs = std::filesystem;
using test::ProgramResult;
using test::run_program;
using test::TempFolder;

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
  const TempFolder folder;
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
  const TempFolder folder;
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
  const TempFolder folder;
  const fs::path file = folder.path() / "trials";
  Counting experiment;
  experiment.fails = 3;
  Request request;
  request.trials = 3;
  test::expect_error<Error>([&] { run_trials(experiment, request, file, {}); },
                            {"counting, trial {\"seed\":3}: seed out of luck"});
  EXPECT_EQ(read_trials(file).size(), 2U);
}

TEST(Trials, StoppingKeepsWhatIsFinished) {
  const TempFolder folder;
  const fs::path file = folder.path() / "trials";
  const Counting experiment;
  Request request;
  request.trials = 4;
  const auto until_two = [](const TrialsProgress& now) { return now.done < 2; };
  test::expect_error<Interrupted>([&] { run_trials(experiment, request, file, until_two); }, {"interrupted"});
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
  test::expect_error<UsageError>([] { find_experiment("figure9"); },
                                 {"there is no experiment 'figure9'", "choose one of", "consistency", "or all"});
  Request request;
  EXPECT_EQ(missing_file(find_experiment("table2"), request), "images/house256.png");
  EXPECT_EQ(missing_file(find_experiment("consistency"), request), "");
  request.quick = true;
  EXPECT_EQ(missing_file(find_experiment("table2"), request), "");
}

TEST(ReproduceProgram, ListsRunsAndSkips) {
  const TempFolder folder;
  const ProgramResult list = run_program(folder.path(), {"reproduce", "list"});
  EXPECT_EQ(list.code, 0) << list.err;
  for (const std::string& name : names()) EXPECT_NE(list.out.find(name), std::string::npos) << name;

  const ProgramResult run = run_program(folder.path(), {"reproduce", "house", "--quick", "-o", "deep/results"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("yes"), std::string::npos) << run.err;
  EXPECT_TRUE(fs::exists(folder.path() / "deep/results/house.quick.json"));

  test::ProgramOptions without_data;
  without_data.environment = {{"GSC_DATA", ""}};
  const ProgramResult skipped = run_program(folder.path(), {"reproduce", "table2", "-o", "results"}, without_data);
  EXPECT_EQ(skipped.code, 0) << skipped.err;
  EXPECT_NE(skipped.err.find("table2 is skipped: it needs images/house256.png"), std::string::npos) << skipped.err;
}

TEST(ReproduceProgram, WrongUse) {
  const TempFolder folder;
  const auto refused = [&](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), "reproduce");
    const ProgramResult result = run_program(folder.path(), words);
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err;
  };
  refused({"figure9", "-o", "results"}, "there is no experiment 'figure9'");
  refused({"house", "--quick"}, "-o DIR");
  refused({"house", "--quick", "-o", "results", "--trials", "0"}, "trials is 0");
  refused({"house", "-o", "results", "--data", "nowhere"}, "data is nowhere");
  EXPECT_FALSE(fs::exists(folder.path() / "results"));
}

}  // namespace
}  // namespace gsc::experiments
