#include "mpi_fixture.h"

#include <fcntl.h>
#include <gsc/files.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <thread>

namespace gsc::test {
namespace {

namespace fs = std::filesystem;

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

Words mpirun(int ranks, const Words& command) {
  return Words{MPIEXEC, "--oversubscribe", "-n", std::to_string(ranks)} + command;
}

/// For mpirun on this machine only: as root, without ssh, which it looks for, and without words of its own where there
/// is no /sys (hwloc tells so, in a minimal system).
Environment alone_here(Environment environment) {
  environment.insert(environment.end(), {{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                         {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                         {"OMPI_MCA_plm_rsh_agent", "/bin/false"},
                                         {"HWLOC_HIDE_ERRORS", "2"}});
  return environment;
}

}  // namespace

Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

int count(const std::string& text, const std::string& part) {
  int times = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + part.size())) ++times;
  return times;
}

double difference(const Matrix& a, const Matrix& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return std::numeric_limits<double>::infinity();
  if (a.size() == 0) return 0;
  return (a - b).cwiseAbs().maxCoeff() / std::max(a.cwiseAbs().maxCoeff(), 1e-300);
}

double difference(double a, double b) { return std::abs(a - b) / std::abs(a); }

Job::Job(const fs::path& folder, const Words& command, const Environment& environment) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // ranks that mpirun leaves behind become our children
  const pid_t parent = getpid();
  process_ = fork();
  if (process_ < 0) throw std::runtime_error("cannot start a process");
  if (process_ > 0) return;
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

Job::~Job() {
  if (running()) kill(process_, SIGKILL);
  end_all();
}

void Job::signal_rank(int number, int signal) const {
  for (const pid_t child : children_of(process_)) {
    const std::string variables = '\0' + read_file("/proc/" + std::to_string(child) + "/environ");
    if (count(variables, '\0' + ("OMPI_COMM_WORLD_RANK=" + std::to_string(number)) + '\0') == 0) continue;
    kill(child, signal);
    return;
  }
  ADD_FAILURE() << "there is no rank " << number << '\n' << err();
}

bool Job::until(const std::function<bool()>& happened) {
  while (!happened()) {
    if (!running() || too_long()) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
  }
  return running();
}

ProgramResult Job::wait(double timeout_seconds) {
  timeout_seconds_ = timeout_seconds;
  while (running() && !too_long()) std::this_thread::sleep_for(std::chrono::milliseconds(3));
  ProgramResult result;
  result.out = read_file(talk_.path() / "out");
  result.err = err();
  if (running()) {
    ADD_FAILURE() << "still running after " << timeout_seconds << " s\n" << result.err;
    kill(process_, SIGKILL);
    waitpid(process_, &status_, 0);
    ended_ = true;
    end_all();
    return result;
  }
  result.code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  const int left = end_all();
  EXPECT_EQ(left, 0) << "processes left behind\n" << result.err;
  return result;
}

bool Job::running() {
  if (!ended_) ended_ = waitpid(process_, &status_, WNOHANG) == process_;
  return !ended_;
}

int Job::end_all() {
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

std::set<std::string> MpirunFixture::listing() const {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder_.path())) names.insert(entry.path().filename());
  return names;
}

void MpirunFixture::make_bars(const std::string& name, const std::string& points) const {
  alone({"sample", "--generator", "bars", "--latents", "10", "-n", points, "-o", name, "--quiet"});
}

Job MpirunFixture::start_command(int ranks, const Words& command, const Environment& environment) const {
  return Job(folder_.path(), mpirun(ranks, command), alone_here(environment));
}

Job MpirunFixture::start(int ranks, const Words& words, const Environment& environment) const {
  return start_command(ranks, Words{GSC_PROGRAM} + words, environment);
}

ProgramResult MpirunFixture::run(int ranks, const Words& words, const Environment& environment) const {
  return start(ranks, words, environment).wait();
}

ProgramResult MpirunFixture::done(int ranks, const Words& words, const Environment& environment) const {
  ProgramResult result = run(ranks, words, environment);
  EXPECT_EQ(result.code, 0) << result.err;
  return result;
}

ProgramResult MpirunFixture::alone(const Words& words) const {
  ProgramResult result = run_program(folder_.path(), words);
  EXPECT_EQ(result.code, 0) << result.err;
  return result;
}

Words MpirunFixture::fit(const std::string& data, const std::string& output, const Words& more) {
  return Words{"fit",          data, "-o",           output, "--latents",   "8", "--candidates", "4",
               "--max-active", "3",  "--iterations", "5",    "--tolerance", "0", "--threads",    "1"} +
         more;
}

void MpirunFixture::expect_same(const std::string& one, const std::string& other) const {
  const FitState a = load_model(path(one)).state, b = load_model(path(other)).state;
  EXPECT_LT(difference(a.model.W, b.model.W), 1e-9);
  EXPECT_LT(difference(a.model.W_variance, b.model.W_variance), 1e-9);
  EXPECT_LT(difference(a.model.pi, b.model.pi), 1e-9);
  // Where data points cancel, mu is zero but for rounding; amplitudes are as large as the slab says.
  const double amplitude = std::max(a.model.mu.cwiseAbs().maxCoeff(), std::sqrt(a.model.slab.variances().maxCoeff()));
  EXPECT_LT((a.model.mu - b.model.mu).cwiseAbs().maxCoeff() / amplitude, 1e-9);
  EXPECT_LT(difference(a.model.slab.values(), b.model.slab.values()), 1e-9);
  EXPECT_LT(difference(a.model.noise.values(), b.model.noise.values()), 1e-9);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t t = 0; t < a.history.size(); ++t) {
    EXPECT_LT(difference(a.history[t].free_energy, b.history[t].free_energy), 1e-9) << "iteration " << t;
    EXPECT_EQ(a.history[t].latents_in_use, b.history[t].latents_in_use) << "iteration " << t;
  }
}

}  // namespace gsc::test
