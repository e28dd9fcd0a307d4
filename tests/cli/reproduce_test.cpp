// Every experiment of the paper in its quick version: it runs, writes what it promises, and its claims hold.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>

#include "benchmarks.h"
#include "effort.h"
#include "expect_error.h"
#include "json_lines.h"
#include "reproduce.h"
#include "run_program.h"
#include "statistics.h"

namespace gsc::experiments {
namespace {

namespace fs = std::filesystem;
using test::kSanitized;
using test::ProgramResult;
using test::run_program;
using test::TempFolder;

std::string read_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

Json read_json(const fs::path& file) { return Json::parse(read_text(file)); }

/// How many lines begin so.
int lines_with(const std::string& text, const std::string& beginning) {
  std::istringstream lines(text);
  int count = 0;
  for (std::string line; std::getline(lines, line);) count += line.starts_with(beginning) ? 1 : 0;
  return count;
}

/// What the action complains about.
std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no exception";
  return "";
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
  int told = 0;
  for (const Claim& claim : outcome.summary.claims) {
    EXPECT_TRUE(claim.holds || claim.in_quick != InQuick::holds_too) << claim.text;
    told += not_comparable(claim, quick_request()).empty() ? 1 : 0;
  }
  EXPECT_GT(told, 0);
  const std::string text = read_text(folder.path() / (GetParam() + ".quick.json"));
  const Json json = Json::parse(text);
  EXPECT_EQ(json["experiment"], GetParam());
  EXPECT_EQ(json["runs"].size(), static_cast<std::size_t>(outcome.trials));
  EXPECT_EQ(lines_with(text, "  {\"settings\":"), outcome.trials);
  EXPECT_FALSE(json["figures"].empty());
  EXPECT_TRUE(fs::file_size(folder.path() / (GetParam() + ".quick.html")) > 1000);

  // Again: nothing is run, and the same comes out.
  const Outcome again = reproduce(experiment, quick_request(), folder.path());
  EXPECT_EQ(again.seconds, outcome.seconds);
  EXPECT_EQ(read_json(folder.path() / (GetParam() + ".quick.json")), json);
}

std::vector<std::string> names() {
  if (kSanitized) return {"posteriors", "table1", "house", "repartitioning"};  // each shape of an experiment once
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
class Counting : public Experiment {
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
  const auto until_two = [](const TrialsProgress& now) { return now.done >= 2; };
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
  EXPECT_DOUBLE_EQ(spread.smallest, 1);
  EXPECT_DOUBLE_EQ(spread.largest, 4);
  const Json json = json_of(spread);
  EXPECT_EQ(json["smallest"], 1.0);
  EXPECT_EQ(json["largest"], 4.0);
  EXPECT_FALSE(json.contains("best"));  // which end is the good one it cannot know
}

TEST(Trials, AnUnknownWordIsAnErrorAndNotAnotherMethod) {
  int words = 0;
  for (const auto& experiment : all_experiments()) {
    std::set<std::string> seen;
    for (const Json& settings : experiment->trials(quick_request()))
      for (const char* name : {"method", "selection", "precision", "noise", "init", "prior", "data", "benchmark",
                               "part", "quality", "samples"}) {
        if (!settings.contains(name) || !settings[name].is_string() || !seen.insert(name).second) continue;
        Json wrong = settings;
        wrong[name] = "exakt";
        const std::string error = error_of([&] { experiment->run(wrong, quick_request()); });
        EXPECT_NE(error.find("exakt"), std::string::npos) << experiment->name() << ", " << name << ": " << error;
        EXPECT_NE(error.find("expected"), std::string::npos) << error;
        ++words;
      }
  }
  EXPECT_GE(words, 25);
}

/// A .mat file of version 5 with one matrix x.
void write_mat(const fs::path& file, const Matrix& x) {
  std::string bytes = std::string("MATLAB 5.0 MAT-file").append(105, ' ') + std::string("\0\1IM", 4);
  const auto add = [](std::string& to, std::uint32_t type, const void* values, std::size_t size) {
    const std::uint32_t tag[2] = {type, static_cast<std::uint32_t>(size)};
    to.append(reinterpret_cast<const char*>(tag), sizeof tag).append(static_cast<const char*>(values), size);
    to.append((8 - size % 8) % 8, '\0');
  };
  constexpr std::uint32_t kInt8 = 1, kInt32 = 5, kUint32 = 6, kDouble = 9, kMatrix = 14, kDoubleClass = 6;
  const std::uint32_t flags[2] = {kDoubleClass, 0};
  const std::int32_t shape[2] = {static_cast<std::int32_t>(x.rows()), static_cast<std::int32_t>(x.cols())};
  std::string matrix;
  add(matrix, kUint32, flags, sizeof flags);
  add(matrix, kInt32, shape, sizeof shape);
  add(matrix, kInt8, "x", 1);
  const Eigen::MatrixXd columns = x;  // .mat files have them column by column
  add(matrix, kDouble, columns.data(), sizeof(double) * static_cast<std::size_t>(columns.size()));
  add(bytes, kMatrix, matrix.data(), matrix.size());
  std::ofstream(file, std::ios::binary) << bytes;
}

TEST(Benchmarks, AFileIsReadOnce) {
  const TempFolder folder;
  fs::create_directories(folder.path() / "icalab");
  const fs::path file = folder.path() / source_file("Speech4");
  Request request;
  request.data = folder.path();
  const Matrix x = Matrix::Random(4, 7);
  write_mat(file, x);
  EXPECT_EQ(benchmark_sources(request, "Speech4"), x);
  fs::remove(file);
  EXPECT_EQ(benchmark_sources(request, "Speech4"), x);
  // Another folder is another file.
  request.data /= "elsewhere";
  EXPECT_NE(error_of([&] { benchmark_sources(request, "Speech4"); }).find("elsewhere"), std::string::npos);
}

/// Figures of another implementation: means over 20 orthogonal mixings, offset 0, N = 200 and 500.
TEST(Benchmarks, FasticaSeparatesTable1AsOthersDo) {
  const char* folder = std::getenv("GSC_DATA");
  if (folder == nullptr) GTEST_SKIP() << "GSC_DATA is not set: no benchmark data";
  const std::map<std::string, std::map<int, double>> known = {{"10halo", {{200, 0.34}, {500, 0.146}}},
                                                              {"Sergio7", {{200, 0.065}, {500, 0.028}}},
                                                              {"Speech4", {{200, 0.175}, {500, 0.068}}},
                                                              {"c5signals", {{200, 0.096}, {500, 0.071}}}};
  Request request;
  request.data = folder;
  request.trials = 20;
  const Experiment& table1 = find_experiment("table1");
  std::map<std::string, std::map<int, double>> means;
  for (const Json& settings : table1.trials(request))
    if (settings["column"] == "FastICA" && settings["offset"] == 0)
      means[settings["benchmark"]][settings["samples"]] +=
          table1.run(settings, request)["amari"].get<double>() / *request.trials;
  for (const auto& [benchmark, by_samples] : known)
    for (const auto& [samples, mean] : by_samples)
      EXPECT_NEAR(means[benchmark][samples], mean, 0.03) << benchmark << ", " << samples;
}

TEST(JsonLines, ARunIsALine) {
  const Json json{{"name", "x"},
                  {"claims", Json::array()},
                  {"figures", {{"numbers", {1, 2}}, {"curves", {{{"x", 1}, {"y", {{{"z", 2}}}}}, {{"x", 2}}}}}},
                  {"runs", {{{"settings", {{"seed", 1}}}}, {{"settings", {{"seed", 2}}}}}}};
  EXPECT_EQ(lines_of(json), R"({
 "name": "x",
 "claims": [],
 "figures": {
  "numbers": [1,2],
  "curves": [
   {"x":1,"y":[{"z":2}]},
   {"x":2}
  ]
 },
 "runs": [
  {"settings":{"seed":1}},
  {"settings":{"seed":2}}
 ]
}
)");
  EXPECT_EQ(Json::parse(lines_of(json)), json);
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

/// Of a benchmark, with a claim of every kind, none of which holds.
class Claiming final : public Counting {
 public:
  std::vector<std::string> files() const override { return {"a.mat", "b.png"}; }
  Summary summarise(const std::vector<Finished>&, const Request&, Report&) const override {
    return {{{"mean", 1}},
            {{"plain", false},
             {"open", false, InQuick::may_fail},
             {"about the data", false, InQuick::needs_data},
             {"about sizes", false, InQuick::needs_sizes}}};
  }
};

TEST(Reproduce, WhatTheQuickVersionCannotTellIsNotHeldAgainstThePaper) {
  const TempFolder folder;
  const Claiming experiment;
  const std::vector<Claim> claims = reproduce(experiment, quick_request(), folder.path()).summary.claims;
  const Json quick = read_json(folder.path() / "counting.quick.json");
  EXPECT_EQ(quick["data"], "artificial data in place of a.mat, b.png, so that no published value applies");
  EXPECT_EQ(quick["claims"][0], Json({{"text", "plain"}, {"holds", false}}));
  EXPECT_EQ(quick["claims"][1], Json({{"text", "open"}, {"holds", false}}));
  EXPECT_EQ(quick["claims"][2],
            Json({{"text", "about the data"}, {"holds", nullptr}, {"why", "not comparable: artificial data"}}));
  EXPECT_EQ(
      quick["claims"][3],
      Json({{"text", "about sizes"}, {"holds", nullptr}, {"why", "not comparable: smaller sizes and fewer trials"}}));
  const std::string page = read_text(folder.path() / "counting.quick.html");
  EXPECT_NE(page.find("not comparable: artificial data"), std::string::npos);
  EXPECT_NE(page.find("artificial data in place of a.mat, b.png"), std::string::npos);
  EXPECT_EQ(claim_text(claims[0], quick_request()), "NO   plain");
  EXPECT_EQ(claim_text(claims[2], quick_request()), "-    about the data (not comparable: artificial data)");

  // The full version can tell.
  reproduce(experiment, {}, folder.path());
  const Json full = read_json(folder.path() / "counting.json");
  EXPECT_EQ(full["data"], "a.mat, b.png");
  for (const Json& claim : full["claims"]) EXPECT_EQ(claim["holds"], false) << claim;
  EXPECT_EQ(claim_text(claims[2], {}), "NO   about the data");
}

TEST(ReproduceProgram, ListsRunsAndSkips) {
  const TempFolder folder;
  const ProgramResult list = run_program(folder.path(), {"reproduce", "list"});
  EXPECT_EQ(list.code, 0) << list.err;
  for (const std::string& name : names()) EXPECT_NE(list.out.find(name), std::string::npos) << name;

  const ProgramResult run = run_program(folder.path(), {"reproduce", "house", "--quick", "-o", "deep/results"});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("yes  The picture gets better"), std::string::npos) << run.err;
  EXPECT_NE(run.err.find("artificial data in place of images/house256.png, so that no published value applies"),
            std::string::npos)
      << run.err;
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
