#include "run_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace gsc::test {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// What the program is connected with instead of files; -1: nothing.
struct Pipes {
  int input[2] = {-1, -1}, output[2] = {-1, -1};
  std::string terminal;
};

/// Gives the program its input and hears its output while it runs, each as far as the other side goes along.
class PipeEnds {
 public:
  PipeEnds(const Pipes& pipes, const ProgramOptions& options) {
    signal(SIGPIPE, SIG_IGN);  // the program may read less than there is
    if (pipes.input[0] >= 0) {
      close(pipes.input[0]);
      writer_ = std::thread([end = pipes.input[1], text = *options.input] {
        for (std::size_t done = 0; done < text.size();) {
          const ssize_t count = write(end, text.data() + done, text.size() - done);
          if (count <= 0) break;
          done += static_cast<std::size_t>(count);
        }
        close(end);
      });
    }
    if (pipes.output[1] >= 0) {
      close(pipes.output[1]);
      reader_ = std::thread([this, end = pipes.output[0], most = *options.read_bytes] {
        char buffer[512];
        while (heard_.size() < most) {
          const ssize_t count = read(end, buffer, std::min(sizeof buffer, most - heard_.size()));
          if (count <= 0) break;
          heard_.append(buffer, static_cast<std::size_t>(count));
        }
        close(end);
      });
    }
  }
  ~PipeEnds() { finish(); }
  PipeEnds(const PipeEnds&) = delete;
  PipeEnds& operator=(const PipeEnds&) = delete;
  /// After the program's end: what was heard.
  const std::string& finish() {
    if (writer_.joinable()) writer_.join();
    if (reader_.joinable()) reader_.join();
    return heard_;
  }

 private:
  std::thread writer_, reader_;
  std::string heard_;
};

/// In the child: never returns.
[[noreturn]] void become_program(const std::filesystem::path& folder, const std::vector<std::string>& words,
                                 const ProgramOptions& options, const Pipes& pipes, const std::string& out,
                                 const std::string& err) {
  if (pipes.input[0] >= 0) dup2(pipes.input[0], STDIN_FILENO);
  if (options.terminal_input) dup2(open(pipes.terminal.c_str(), O_RDONLY | O_NOCTTY), STDIN_FILENO);
  dup2(pipes.output[1] >= 0 ? pipes.output[1] : open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), STDOUT_FILENO);
  signal(SIGPIPE, SIG_DFL);  // what the program makes of it is its own business
  dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOCTTY, 0600), STDERR_FILENO);
  if (chdir(folder.c_str()) != 0) _exit(126);
  for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
  if (options.file_limit > 0) {
    const rlimit limit{options.file_limit, options.file_limit};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  std::vector<char*> arguments{const_cast<char*>(GSC_PROGRAM)};
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execv(GSC_PROGRAM, arguments.data());
  _exit(127);
}

/// A terminal without a screen: what is written to name() can be read here.
class Terminal {
 public:
  Terminal() : master_(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK)) {
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) throw std::runtime_error("no terminal");
    name_ = ptsname(master_);
    slave_ = open(name_.c_str(), O_RDWR | O_NOCTTY);  // keeps it alive between writers
  }
  ~Terminal() {
    close(slave_);
    close(master_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  const std::string& name() const { return name_; }
  /// Everything written so far.
  const std::string& text() {
    char buffer[4096];
    for (ssize_t count = 0; (count = read(master_, buffer, sizeof buffer)) > 0;)
      text_.append(buffer, static_cast<std::size_t>(count));
    return text_;
  }

 private:
  int master_, slave_ = -1;
  std::string name_, text_;
};

}  // namespace

TempFolder::TempFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "gsc_cli_test_XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
  path_ = name;
}

TempFolder::~TempFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

ProgramResult run_program(const std::filesystem::path& folder, const std::vector<std::string>& words,
                          const ProgramOptions& options) {
  using Clock = std::chrono::steady_clock;
  const TempFolder talk;
  std::optional<Terminal> terminal;
  if (options.terminal || options.terminal_input) terminal.emplace();
  const std::string out = talk.path() / "out",
                    err = options.terminal ? terminal->name() : (talk.path() / "err").string();
  const auto heard = [&] { return options.terminal ? terminal->text() : read_file(err); };
  Pipes pipes;
  if (terminal) pipes.terminal = terminal->name();
  if ((options.input && pipe2(pipes.input, O_CLOEXEC) != 0) ||
      (options.read_bytes && pipe2(pipes.output, O_CLOEXEC) != 0))
    throw std::runtime_error("no pipe");
  const auto start = Clock::now();
  const pid_t child = fork();
  if (child == 0) become_program(folder, words, options, pipes, out, err);
  PipeEnds ends(pipes, options);

  int status = 0;
  rusage usage{};
  bool signalled = options.signal_when.empty(), killed = false;
  while (wait4(child, &status, WNOHANG, &usage) == 0) {
    if (terminal) terminal->text();  // one that nobody reads fills up, and the program waits
    if (!signalled && heard().find(options.signal_when) != std::string::npos) {
      kill(child, options.signal);
      signalled = true;
    }
    if (!killed && std::chrono::duration<double>(Clock::now() - start).count() > options.timeout_seconds) {
      kill(child, SIGKILL);
      killed = true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ProgramResult result;
  result.wall_seconds = std::chrono::duration<double>(Clock::now() - start).count();
  result.cpu_seconds = seconds(usage.ru_utime) + seconds(usage.ru_stime);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = options.read_bytes ? ends.finish() : read_file(out);
  result.err = heard();
  return result;
}

}  // namespace gsc::test
