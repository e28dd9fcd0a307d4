// The program as mpirun starts it: several processes give what one gives, print and write once, and end together.

#include <fcntl.h>
#include <gsc/files.h>
#include <gsc/picture.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "run_program.h"

namespace gsc::test {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;
using Json = nlohmann::json;
using Environment = std::vector<std::pair<std::string, std::string>>;

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++times;
  return times;
}

std::vector<pid_t> children_of(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const pid_t process = std::atoi(entry.path().filename().c_str());
    if (process <= 0) continue;
    const std::string stat = read_file(entry.path() / "stat");  // number (name) state parent ...
    const std::size_t name_end = stat.rfind(')');
    if (name_end != std::string::npos && std::atoi(stat.c_str() + std::min(name_end + 3, stat.size())) == parent)
      children.push_back(process);
  }
  return children;
}

/// A command that runs. None of its processes outlives this object, or this program.
class Job {
 public:
  Job(const fs::path& folder, const Words& command, const Environment& environment) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // ranks that mpirun leaves behind become our children
    const pid_t parent = getpid();
    process_ = fork();
    if (process_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(125);
    dup2(open((talk_.path() / "out").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
    dup2(open((talk_.path() / "err").c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDERR_FILENO);
    if (chdir(folder.c_str()) != 0) _exit(126);
    for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execv(words[0], words.data());
    _exit(127);
  }
  ~Job() {
    if (running()) kill(process_, SIGKILL);
    end_all();
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  pid_t process() const { return process_; }
  std::string err() const { return read_file(talk_.path() / "err"); }

  /// The process of a rank of mpirun, or -1.
  pid_t rank(int number) const {
    for (const pid_t child : children_of(process_)) {
      const std::string variables = '\0' + read_file("/proc/" + std::to_string(child) + "/environ");
      if (count(variables, '\0' + ("OMPI_COMM_WORLD_RANK=" + std::to_string(number)) + '\0') > 0) return child;
    }
    return -1;
  }

  /// Whether `happened` comes true while the job runs.
  bool until(const std::function<bool()>& happened) {
    while (!happened()) {
      if (!running() || too_long()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    }
    return running();
  }

  /// Its end. A job that does not end, or leaves processes behind, is a failed test.
  ProgramResult wait(double timeout_seconds = 60) {
    timeout_seconds_ = timeout_seconds;
    while (running() && !too_long()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
    ProgramResult result;
    result.out = read_file(talk_.path() / "out");
    result.err = err();
    if (running()) {
      ADD_FAILURE() << "still running after " << timeout_seconds << " s\n" << result.err;
      kill(process_, SIGKILL);
      end_all();
      return result;
    }
    result.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
    const int left = end_all();
    EXPECT_EQ(left, 0) << "processes left behind\n" << result.err;
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool too_long() const { return std::chrono::duration<double>(Clock::now() - start_).count() > timeout_seconds_; }
  bool running() {
    if (!ended_) ended_ = waitpid(process_, &status_, WNOHANG) == process_;
    return !ended_;
  }
  /// Ends what is still there two seconds from now; returns how many.
  static int end_all() {
    const auto patience = Clock::now() + std::chrono::seconds(2);
    std::set<pid_t> killed;
    for (;;) {
      while (waitpid(-1, nullptr, WNOHANG) > 0) {
      }
      const std::vector<pid_t> left = children_of(getpid());
      if (left.empty()) return static_cast<int>(killed.size());
      if (Clock::now() > patience)
        for (const pid_t process : left) {
          kill(process, SIGKILL);
          killed.insert(process);
        }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  TempFolder talk_;
  pid_t process_ = -1;
  Clock::time_point start_ = Clock::now();
  double timeout_seconds_ = 60;
  bool ended_ = false;
  int status_ = 0;
};

Words mpirun(int ranks, const Words& command) {
  return Words{MPIEXEC, "--oversubscribe", "-n", std::to_string(ranks)} + command;
}

Environment as_root(Environment environment) {
  environment.insert(environment.end(), {{"OMPI_ALLOW_RUN_AS_ROOT", "1"}, {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"}});
  return environment;
}

/// The largest difference, in parts of the largest entry.
double difference(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  if (a.size() == 0) return 0;
  return (a - b).cwiseAbs().maxCoeff() / std::max(a.cwiseAbs().maxCoeff(), 1e-300);
}

double difference(double a, double b) { return std::abs(a - b) / std::abs(a); }

class Mpirun : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  Json json(const std::string& name) const { return Json::parse(read_file(path(name))); }
  Matrix array(const std::string& name) const {
    const auto data = open_data(path(name));
    Matrix values(data->rows(), data->cols());
    data->read(0, values);
    return values;
  }
  std::set<std::string> listing() const {
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder_.path())) names.insert(entry.path().filename());
    return names;
  }
  void make_bars(const std::string& name = "bars.npy", const std::string& points = "1501") const {
    alone({"sample", "--generator", "bars", "--latents", "10", "-n", points, "-o", name, "--quiet"});
  }

  Job start(int ranks, const Words& words, const Environment& environment = {}) const {
    return Job(folder_.path(), mpirun(ranks, Words{GSC_PROGRAM} + words), as_root(environment));
  }
  ProgramResult run(int ranks, const Words& words, const Environment& environment = {}) const {
    return start(ranks, words, environment).wait();
  }
  /// Runs, and expects success.
  ProgramResult done(int ranks, const Words& words, const Environment& environment = {}) const {
    ProgramResult result = run(ranks, words, environment);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  /// Without mpirun.
  ProgramResult alone(const Words& words) const {
    ProgramResult result = run_program(folder_.path(), words);
    EXPECT_EQ(result.code, 0) << result.err;
    return result;
  }
  ProgramResult helper(int ranks, const std::string& mode, const Environment& environment = {}) const {
    return Job(folder_.path(), mpirun(ranks, {GSC_MPI_FAILURE, mode}), as_root(environment)).wait(30);
  }

  static Words fit(const std::string& data, const std::string& output, const Words& more = {}) {
    return Words{"fit",          data, "-o",           output, "--latents",   "8", "--candidates", "4",
                 "--max-active", "3",  "--iterations", "5",    "--tolerance", "0", "--threads",    "1"} +
           more;
  }
  void expect_same(const std::string& one, const std::string& other) const {
    const FitState a = load_model(path(one)).state, b = load_model(path(other)).state;
    EXPECT_LT(difference(a.model.W, b.model.W), 1e-9);
    EXPECT_LT(difference(a.model.W_variance, b.model.W_variance), 1e-9);
    EXPECT_LT(difference(a.model.pi, b.model.pi), 1e-9);
    EXPECT_LT(difference(a.model.mu, b.model.mu), 1e-9);
    EXPECT_LT(difference(a.model.slab.values(), b.model.slab.values()), 1e-9);
    EXPECT_LT(difference(a.model.noise.values(), b.model.noise.values()), 1e-9);
    ASSERT_EQ(a.history.size(), b.history.size());
    for (std::size_t t = 0; t < a.history.size(); ++t) {
      EXPECT_LT(difference(a.history[t].free_energy, b.history[t].free_energy), 1e-9) << "iteration " << t;
      EXPECT_EQ(a.history[t].latents_in_use, b.history[t].latents_in_use) << "iteration " << t;
    }
  }
  /// What several processes learn is what one learns. `sharing`: options that are for the several. Returns the metrics.
  Json agrees(int ranks, const std::string& data, const Words& model, const Words& sharing = {},
              const Environment& environment = {}) const {
    std::string text = data + ", " + std::to_string(ranks) + " ranks";
    for (const std::string& word : model + sharing) text += " " + word;
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, text);
    alone(fit(data, "alone.h5", {"--quiet"}) + model);
    const ProgramResult result =
        done(ranks, fit(data, "ranks.h5", {"--metrics", "-", "--quiet"}) + model + sharing, environment);
    if (result.code != 0) return {};
    expect_same("alone.h5", "ranks.h5");
    fs::remove(path("ranks.h5"));
    const Json metrics = Json::parse(result.out);
    EXPECT_EQ(metrics["processes"], ranks);
    return metrics;
  }
  /// The run fails with `code`, says each of `parts` once, leaves an old output as it was and nothing else behind.
  void fails(int code, int ranks, const Words& words, const Words& parts) const {
    write_file(path("out.h5"), "old contents");
    const std::set<std::string> before = listing();
    const ProgramResult result = run(ranks, words);
    std::string command;
    for (const std::string& word : words) command += word + " ";
    EXPECT_EQ(result.code, code) << command << "\n" << result.err;
    for (const std::string& part : parts) EXPECT_EQ(count(result.err, part), 1) << part << "\n" << result.err;
    EXPECT_TRUE(read_file(path("out.h5")) == "old contents") << command;
    EXPECT_EQ(listing(), before) << command;
    EXPECT_EQ(result.out, "") << command;
  }

 private:
  TempFolder folder_;
};

// --- what is learned ---------------------------------------------------------------------------------------------

TEST_F(Mpirun, FitLearnsTheSameModel) {
  make_bars();  // 1501 rows: no number of ranks here divides them
  const Words full{"--noise", "full", "--slab", "full"},
      other{"--noise", "diagonal", "--selection", "singleton", "--init", "random"};
  struct Case {
    int ranks;
    std::string partition;
    Words model;
  };
  for (const Case& now : {Case{2, "static", {}}, Case{2, "global", full}, Case{3, "local", other},
                          Case{3, "static", full}, Case{4, "local", full}, Case{4, "global", {}}}) {
    const Json metrics = agrees(now.ranks, "bars.npy", now.model, {"--partition", now.partition});
    EXPECT_EQ(metrics["sharing"]["partition"], now.partition);
    EXPECT_EQ(metrics["sharing"]["rows_moved"] > 0, now.partition == "global");
    EXPECT_EQ(metrics["sharing"]["rows_sent_to_other_nodes"], 0);
  }
}

TEST_F(Mpirun, FitWithFewerRowsThanRanks) {
  write_file(path("three.csv"), "1,2,0,4\n0,1,3,1\n5,1,1,2\n");
  alone({"sample", "--generator", "laplace", "--latents", "4", "-n", "2", "-o", "two.npy", "--quiet"});
  const Words small{"--latents", "2", "--candidates", "2", "--max-active", "2"};
  agrees(4, "three.csv", small);
  agrees(3, "two.npy", small, {"--partition", "global"});
}

TEST_F(Mpirun, FitOfEveryFormatAndMethod) {
  for (const std::string name : {"bars.csv", "bars.h5", "bars.npz"}) make_bars(name, "401");
  agrees(3, "bars.csv", {"--method", "exact"});
  agrees(3, "bars.h5:/data", {"--method", "factored", "--noise", "diagonal"});
  agrees(2, "bars.npz", {"--method", "factored", "--basis-prior", "gp", "--show-basis", "5x5"});
  agrees(2, "bars.npz:data", {"--slab", "full"}, {"--partition", "local"});
}

// GSC_RANKS_PER_NODE makes several nodes of this one.
TEST_F(Mpirun, RowsTravelBetweenNodes) {
  make_bars();
  make_bars("bars.csv", "401");
  const auto sent = [](const Json& metrics) { return metrics["sharing"]["rows_sent_to_other_nodes"].get<double>(); };
  const Words global{"--partition", "global"};
  const Json each_a_node = agrees(3, "bars.csv", {}, global + Words{"--alpha", "50"}, {{"GSC_RANKS_PER_NODE", "1"}});
  EXPECT_GT(sent(each_a_node), 0);
  EXPECT_EQ(sent(each_a_node), each_a_node["sharing"]["rows_moved"]);
  const Json two_nodes = agrees(4, "bars.npy", {}, global, {{"GSC_RANKS_PER_NODE", "2"}});
  EXPECT_GT(sent(two_nodes), 0);
  EXPECT_LT(sent(two_nodes), two_nodes["sharing"]["rows_moved"]);
}

TEST_F(Mpirun, Denoise) {
  const auto denoise = [](const std::string& name) {
    return Words{"denoise",      GSC_SOURCE_DIR "/assets/demo.png",
                 "-o",           name + ".png",
                 "--metrics",    name + ".json",
                 "--std",        name + ".tif",
                 "--add-noise",  "25",
                 "--quality",    "fast",
                 "--patch",      "5",
                 "--stride",     "2",
                 "--latents",    "16",
                 "--iterations", "3",
                 "--threads",    "1"};
  };
  alone(denoise("alone"));
  const ProgramResult result = done(3, denoise("ranks"));
  EXPECT_EQ(count(result.err, "gsc denoise: wrote"), 1) << result.err;
  EXPECT_EQ(json("ranks.json")["processes"], 3);
  EXPECT_NEAR(json("alone.json")["psnr"].get<double>(), json("ranks.json")["psnr"].get<double>(), 0.01);
  EXPECT_GT(json("ranks.json")["psnr"].get<double>(), json("ranks.json")["psnr_noisy"].get<double>() + 5);
  const Picture one = read_picture(path("alone.png")), other = read_picture(path("ranks.png"));
  ASSERT_EQ(one.width(), other.width());
  EXPECT_LE((one.channels[0] - other.channels[0]).cwiseAbs().maxCoeff(), 1);
  EXPECT_LT(difference(read_picture(path("alone.tif")).channels[0], read_picture(path("ranks.tif")).channels[0]), 1e-3);
}

TEST_F(Mpirun, Separate) {
  alone({"sample", "--generator", "laplace", "--latents", "3", "-n", "1001", "-o", "mix.npy", "--quiet"});
  for (const std::string restarts : {"5", "1"}) {  // ranks share the starts, or the rows of the one
    const Words separate{"separate", "mix.npy", "--restarts", restarts, "--iterations", "20", "--threads", "1"};
    alone(separate + Words{"-o", "alone" + restarts});
    const ProgramResult result = done(3, separate + Words{"-o", "ranks" + restarts});
    EXPECT_EQ(count(result.err, "gsc separate: wrote"), 1) << result.err;
    const std::string one = "alone" + restarts + "/", other = "ranks" + restarts + "/";
    const Json a = json(one + "metrics.json"), b = json(other + "metrics.json");
    EXPECT_LT(difference(a["free_energy"], b["free_energy"].get<double>()), 1e-9);
    ASSERT_EQ(a["free_energies"].size(), b["free_energies"].size());
    for (std::size_t i = 0; i < a["free_energies"].size(); ++i)
      EXPECT_LT(difference(a["free_energies"][i], b["free_energies"][i].get<double>()), 1e-9);
    for (const std::string file : {"mixing.npy", "sources.npy"})
      EXPECT_LT(difference(array(one + file), array(other + file)), 1e-9) << file;
    expect_same(one + "model.h5", other + "model.h5");
  }
}

// --- experiments -------------------------------------------------------------------------------------------------

/// What must not depend on who ran the trials.
Json without_seconds(Json runs) {
  for (Json& run : runs) run.erase("seconds");
  return runs;
}

TEST_F(Mpirun, ReproduceRunsTheSameTrials) {
  const auto reproduce = [](const std::string& name, const std::string& output) {
    return Words{"reproduce", name, "--quick", "--trials", "1", "--threads", "1", "-o", output};
  };
  for (const std::string name : {"posteriors", "directions"}) {
    const std::string trials = "/" + name + ".quick.trials", page = "/" + name + ".quick.json";
    alone(reproduce(name, "alone"));
    // The first trials are there already; what is missing is run, and only that.
    const std::string all = read_file(path("alone" + trials)),
                      kept = name == "posteriors" ? "" : all.substr(0, all.find('\n', all.size() / 3) + 1);
    fs::create_directory(path("ranks"));
    write_file(path("ranks" + trials), kept);
    const ProgramResult result = done(3, reproduce(name, "ranks"));
    EXPECT_EQ(count(result.err, "gsc reproduce: wrote 1 experiment to ranks"), 1) << result.err;
    const std::string finished = read_file(path("ranks" + trials));
    EXPECT_EQ(finished.substr(0, kept.size()), kept);
    EXPECT_EQ(count(finished, "\n"), count(all, "\n"));
    const Json one = json("alone" + page), other = json("ranks" + page);
    EXPECT_EQ(without_seconds(one["runs"]), without_seconds(other["runs"]));
    EXPECT_EQ(one["figures"], other["figures"]);
  }
  const std::string finished = read_file(path("ranks/directions.quick.trials"));
  const Json page = json("ranks/directions.quick.json");
  done(2, reproduce("directions", "ranks"));
  EXPECT_EQ(read_file(path("ranks/directions.quick.trials")), finished);
  EXPECT_EQ(json("ranks/directions.quick.json"), page);
}

TEST_F(Mpirun, ReproduceRepartitioningByTheWholeTeam) {
  const ProgramResult result = done(3, {"reproduce", "repartitioning", "--quick", "--trials", "1", "-o", "out"});
  EXPECT_EQ(count(result.err, "gsc reproduce: repartitioning ("), 1) << result.err;
  const Json page = json("out/repartitioning.quick.json");
  EXPECT_EQ(count(read_file(path("out/repartitioning.quick.trials")), "\n"), static_cast<int>(page["runs"].size()));
  ASSERT_GE(page["runs"].size(), 2u);
  for (const Json& trial : page["runs"]) {
    EXPECT_EQ(trial["settings"]["ranks"], 3);
    EXPECT_EQ(trial["settings"]["processes"], true);
    const double energy = trial["result"]["static"]["free_energy"];
    for (const char* partition : {"local", "global"})
      EXPECT_LT(difference(energy, trial["result"][partition]["free_energy"].get<double>()), 1e-9) << partition;
    EXPECT_GT(trial["result"]["global"]["rows_moved"], 0);
  }
}

// --- who prints and writes ---------------------------------------------------------------------------------------

TEST_F(Mpirun, OnlyTheFirstPrintsAndWrites) {
  make_bars();
  const ProgramResult loud = done(3, fit("bars.npy", "m.h5", {"--metrics", "-", "--checkpoint", "state.h5"}));
  for (const char* part : {"gsc fit: 1501 data points", ", 3 processes", "iteration 0/5", "iteration 3/5",
                           "iteration 5/5", "all iterations done", "wrote m.h5"})
    EXPECT_EQ(count(loud.err, part), 1) << part << "\n" << loud.err;
  EXPECT_EQ(Json::parse(loud.out)["iterations"], 5);  // throws if another object follows

  const ProgramResult quiet = done(3, fit("bars.npy", "m.h5", {"--quiet", "--metrics", "m.json"}));
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(json("m.json")["processes"], 3);
  EXPECT_EQ(listing(), (std::set<std::string>{"bars.npy", "m.h5", "m.json"}));
}

TEST_F(Mpirun, HelpOnce) {
  const ProgramResult help = done(3, {"fit", "--help"});
  EXPECT_EQ(help.out, alone({"fit", "--help"}).out);
  EXPECT_EQ(help.err, "");
  const ProgramResult nothing = run(3, {});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_EQ(count(nothing.err, "Usage"), 1) << nothing.err;
}

// --- failures ----------------------------------------------------------------------------------------------------

TEST_F(Mpirun, WrongUseIsToldOnce) {
  make_bars();
  fails(2, 3, {"fit", "bars.npy", "-o", "out.h5", "--latent", "5"}, {"unknown option --latent", "Did you mean"});
  fails(2, 3, fit("bars.npy", "none/out.h5"), {"folder none does not exist"});
  alone(fit("bars.npy", "m.h5", {"--quiet"}));
  for (const Words& words : {Words{"infer", "m.h5", "bars.npy", "-o", "codes.npz"}, Words{"info", "m.h5"},
                             Words{"sample", "m.h5", "-n", "5", "-o", "draws.npy"}})
    fails(2, 2, words, {"gsc " + words[0] + " works as one process", "without mpirun"});
}

// The others have begun to learn when the first finds that it cannot write.
TEST_F(Mpirun, WhatOnlyTheFirstNoticesEndsAll) {
  alone({"sample", "--generator", "laplace", "--latents", "3", "-n", "1001", "-o", "mix.npy", "--quiet"});
  fails(2, 3, {"separate", "mix.npy", "-o", "new", "--metrics", "none/m.json", "--quiet"},
        {"folder none does not exist"});
}

TEST_F(Mpirun, BadDataIsToldOnce) {
  fails(1, 3, fit("none.npy", "out.h5"), {"gsc fit: none.npy"});
  write_file(path("text.npy"), "not an array at all");
  fails(1, 2, fit("text.npy", "out.h5"), {"gsc fit: text.npy"});
  Matrix values = Matrix::Random(101, 3);
  values(98, 2) = std::numeric_limits<double>::quiet_NaN();  // the last rank's
  write_arrays(path("nan.npy"), {named("x", values)});
  write_arrays(path("nan.csv"), {named("x", values)});
  fails(1, 3, fit("nan.npy", "out.h5", {"--quiet"}), {"gsc fit: nan.npy: row 98, column 2 (from 0) is NaN"});
  fails(1, 3, fit("nan.csv", "out.h5", {"--quiet"}), {"nan.csv: row 98, column 2"});
}

TEST_F(Mpirun, AnOutputThatVanishesIsToldOnce) {
  make_bars("bars.npy", "3000");
  fs::create_directory(path("gone"));
  Job job = start(2, fit("bars.npy", "gone/m.h5", {"--iterations", "300"}));
  ASSERT_TRUE(job.until([&] { return count(job.err(), "iteration   1/") > 0; })) << job.err();
  fs::remove(path("gone"));
  const ProgramResult result = job.wait();
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_EQ(count(result.err, "gsc fit: gone/m.h5: cannot be written"), 1) << result.err;
}

TEST_F(Mpirun, TheProgramForOneProcessSaysSo) {
  const char* program = std::getenv("GSC_SERIAL_PROGRAM");
  if (program == nullptr) GTEST_SKIP() << "GSC_SERIAL_PROGRAM would be the path of a gsc built without GSC_MPI";
  const ProgramResult result = Job(path("."), mpirun(2, {program, "--version"}), as_root({})).wait();
  EXPECT_EQ(result.code, 2);
  EXPECT_GE(count(result.err, "started as 2 processes, but this gsc was built for one"), 1) << result.err;
}

// --- interrupted and taken up again ------------------------------------------------------------------------------

TEST_F(Mpirun, ResumeWithOtherNumbersOfRanks) {
  make_bars();
  for (const std::string method : {"truncated", "factored"}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, method);
    const Words quiet{"--method", method, "--quiet"};
    alone(fit("bars.npy", "whole.h5", {"--iterations", "9"}) + quiet);
    done(3, fit("bars.npy", "part.h5", {"--checkpoint", "state.h5", "--checkpoint-every", "2"}) + quiet);
    EXPECT_EQ(load_model(path("state.h5")).state.history.back().iteration, 4);
    const Words resume{"fit", "bars.npy", "-o", "rest.h5", "--resume", "state.h5", "--iterations", "9", "--quiet"};
    alone(resume);
    expect_same("whole.h5", "rest.h5");
    fs::remove(path("rest.h5"));
    done(2, resume + (method == "truncated" ? Words{"--partition", "global"} : Words{}));
    expect_same("whole.h5", "rest.h5");
    fs::remove(path("rest.h5"));
  }
}

// The checkpoint of the factored method has a column for every row of its data.
TEST_F(Mpirun, ResumeOnDataOfAnotherSize) {
  make_bars();
  make_bars("other.npy", "700");
  alone(fit("bars.npy", "m.h5", {"--method", "factored", "--checkpoint", "state.h5", "--checkpoint-every", "2"}));
  const Words resume{"fit", "other.npy", "-o", "out.h5", "--resume", "state.h5", "--quiet"};
  const ProgramResult one = run_program(path("."), resume);
  EXPECT_NE(one.code, 0);
  EXPECT_EQ(count(one.err, "gsc fit: the codes are "), 1) << one.err;
  fails(one.code, 2, resume, {"gsc fit: the codes are "});
}

class MpirunSignal : public Mpirun {
 protected:
  static Words endless(const std::string& checkpoint) {
    return fit("bars.npy", "m.h5",
               {"--iterations", "100000", "--checkpoint", checkpoint, "--checkpoint-every", "100000"});
  }
  static bool has_begun(const Job& job) { return count(job.err(), "iteration      3/") > 0; }
  /// The checkpoint was saved and told of once, and learning goes on from it.
  void saved_once(const ProgramResult& result) const {
    EXPECT_EQ(count(result.err, "interrupted after iteration"), 1) << result.err;
    EXPECT_EQ(count(result.err, "saved state.h5; go on with --resume state.h5"), 1) << result.err;
    EXPECT_EQ(listing(), (std::set<std::string>{"bars.npy", "state.h5"}));
    ASSERT_TRUE(fs::exists(path("state.h5")));
    const int reached = load_model(path("state.h5")).state.history.back().iteration;
    EXPECT_GE(reached, 3);
    EXPECT_EQ(count(result.err, "interrupted after iteration " + std::to_string(reached) + ";"), 1) << result.err;
    const Words resume{"fit",    "bars.npy", "--resume", "state.h5", "--iterations", std::to_string(reached + 2),
                       "--quiet"};
    alone(resume + Words{"-o", "m.h5"});
    EXPECT_EQ(load_model(path("m.h5")).state.history.back().iteration, reached + 2);
  }
};

TEST_F(MpirunSignal, ToMpirun) {
  for (const int signal : {SIGTERM, SIGINT}) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, strsignal(signal));
    for (const std::string& name : listing()) fs::remove(path(name));
    make_bars("bars.npy", "3000");
    Job job = start(3, endless("state.h5"));
    ASSERT_TRUE(job.until([&] { return has_begun(job); })) << job.err();
    kill(job.process(), signal);
    const ProgramResult result = job.wait();
    EXPECT_NE(result.code, 0);  // mpirun has its own code here
    saved_once(result);
  }
}

// As batch systems do that tell the processes themselves.
TEST_F(MpirunSignal, ToOneRank) {
  make_bars("bars.npy", "3000");
  Job job = start(3, endless("state.h5"));
  ASSERT_TRUE(job.until([&] { return has_begun(job); })) << job.err();
  const pid_t last = job.rank(2);
  ASSERT_GT(last, 0);
  kill(last, SIGTERM);
  const ProgramResult result = job.wait();
  EXPECT_EQ(result.code, 130) << result.err;
  saved_once(result);
}

TEST_F(MpirunSignal, WhenTheCheckpointCannotBeSaved) {
  make_bars("bars.npy", "3000");
  fs::create_directory(path("gone"));
  Job job = start(3, endless("gone/state.h5"));
  ASSERT_TRUE(job.until([&] { return has_begun(job); })) << job.err();
  fs::remove(path("gone"));
  kill(job.rank(1), SIGTERM);
  const ProgramResult result = job.wait();
  EXPECT_EQ(result.code, 1) << result.err;
  EXPECT_EQ(count(result.err, "gone/state.h5: cannot be written"), 1) << result.err;
}

TEST_F(MpirunSignal, ARankIsKilled) {
  make_bars("bars.npy", "6000");
  // All states: the longer run must not depend on which latents just miss being candidates.
  const Words exact = fit("bars.npy", "m.h5", {"--method", "exact", "--iterations", "100000"});
  Job job = start(3, exact + Words{"--checkpoint", "state.h5", "--checkpoint-every", "1"});
  ASSERT_TRUE(job.until([&] { return fs::exists(path("state.h5")); })) << job.err();
  const pid_t victim = job.rank(1);
  ASSERT_GT(victim, 0);
  kill(victim, SIGKILL);
  const ProgramResult result = job.wait(30);
  EXPECT_NE(result.code, 0);
  EXPECT_FALSE(fs::exists(path("m.h5")));

  const int reached = load_model(path("state.h5")).state.history.back().iteration;
  const std::string further = std::to_string(reached + 3);
  done(3, {"fit", "bars.npy", "-o", "ranks.h5", "--resume", "state.h5", "--iterations", further, "--quiet"});
  alone(fit("bars.npy", "alone.h5", {"--method", "exact", "--iterations", further, "--quiet"}));
  expect_same("alone.h5", "ranks.h5");
}

// --- the team itself ---------------------------------------------------------------------------------------------

TEST_F(Mpirun, CollectiveCallsOfTheTeam) {
  EXPECT_EQ(helper(3, "collectives").code, 0);
  const ProgramResult nodes = helper(4, "collectives", {{"GSC_RANKS_PER_NODE", "3"}});
  EXPECT_EQ(nodes.code, 0) << nodes.err;
}

TEST_F(Mpirun, AFailureOfOneRankEndsAll) {
  const ProgramResult one = helper(3, "throw-one");
  EXPECT_EQ(one.code, 1) << one.err;
  EXPECT_EQ(count(one.err, "rank 1 gives up"), 1) << one.err;
  const ProgramResult all = helper(3, "throw-all");
  EXPECT_EQ(all.code, 1) << all.err;
  EXPECT_EQ(count(all.err, "gives up"), 1) << all.err;
  EXPECT_EQ(count(all.err, "rank 0 gives up"), 1) << all.err;
  EXPECT_NE(helper(3, "kill").code, 0);
}

TEST_F(Mpirun, RanksOfANodeDivideItsCores) {
  unsetenv("OMP_NUM_THREADS");
  const int cores = std::atoi(helper(1, "threads").out.c_str());
  ASSERT_GE(cores, 1);
  const std::string line = std::to_string(std::max(1, cores / 3)) + " threads\n";
  EXPECT_EQ(helper(3, "threads").out, line + line + line);
  const std::string two = std::to_string(std::max(1, cores / 2)) + " threads\n";  // two are bound to a core each
  EXPECT_EQ(helper(2, "threads").out, two + two);
}

}  // namespace
}  // namespace gsc::test
