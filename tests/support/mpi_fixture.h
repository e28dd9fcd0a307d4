#pragma once
// The program under mpirun: how to start it, reach its processes, and compare what it wrote.

#include <gsc/model.h>
#include <gtest/gtest.h>
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "run_program.h"

namespace gsc::test {

using Words = std::vector<std::string>;
using Environment = std::vector<std::pair<std::string, std::string>>;

Words operator+(Words words, const Words& more);

/// How often `part` is in `text`.
int count(const std::string& text, const std::string& part);

/// The largest difference, in parts of the largest entry.
double difference(const Matrix& a, const Matrix& b);
double difference(double a, double b);

/// A command that runs. None of its processes outlives this object, or this program.
class Job {
 public:
  Job(const std::filesystem::path& folder, const Words& command, const Environment& environment);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  pid_t process() const { return process_; }
  std::string err() const { return read_file(talk_.path() / "err"); }

  /// Sends a signal to a rank of mpirun. That there is none is a failed test.
  void signal_rank(int number, int signal) const;

  /// Whether `happened` comes true while the job runs.
  bool until(const std::function<bool()>& happened);

  /// Its end. A job that does not end, or leaves processes behind, is a failed test.
  ProgramResult wait(double timeout_seconds = 60);

 private:
  using Clock = std::chrono::steady_clock;
  bool too_long() const { return std::chrono::duration<double>(Clock::now() - start_).count() > timeout_seconds_; }
  bool running();
  /// Ends what is still there two seconds from now; returns how many.
  static int end_all();

  TempFolder talk_;
  pid_t process_ = -1;
  Clock::time_point start_ = Clock::now();
  double timeout_seconds_ = 60;
  bool ended_ = false;
  int status_ = 0;
};

/// A folder with data to learn from, and the program run in it.
class MpirunFixture : public ::testing::Test {
 protected:
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::set<std::string> listing() const;
  void make_bars(const std::string& name = "bars.npy", const std::string& points = "1501") const;

  /// Any command under mpirun.
  Job start_command(int ranks, const Words& command, const Environment& environment = {}) const;
  /// The program under mpirun.
  Job start(int ranks, const Words& words, const Environment& environment = {}) const;
  ProgramResult run(int ranks, const Words& words, const Environment& environment = {}) const;
  /// Runs, and expects success.
  ProgramResult done(int ranks, const Words& words, const Environment& environment = {}) const;
  /// Without mpirun.
  ProgramResult alone(const Words& words) const;

  static Words fit(const std::string& data, const std::string& output, const Words& more = {});
  /// Two files hold the same model, learned in the same way.
  void expect_same(const std::string& one, const std::string& other) const;

 private:
  TempFolder folder_;
};

}  // namespace gsc::test
