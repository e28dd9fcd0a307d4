#pragma once
// Runs the real program in a folder of its own, as a user would.

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gsc::test {

/// A new empty folder that goes away with the object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

struct ProgramResult {
  int code = -1;  ///< exit code, or 128 + the signal that ended it
  std::string out;
  std::string err;
  double wall_seconds = 0;
  double cpu_seconds = 0;
};

struct ProgramOptions {
  std::optional<std::string> input = {};       ///< what a pipe to its standard input gives
  bool terminal_input = false;                 ///< standard input is a terminal
  std::optional<std::size_t> read_bytes = {};  ///< standard output is a pipe, closed after so many
  bool terminal = false;                       ///< standard error is a terminal
  std::vector<std::pair<std::string, std::string>> environment = {};  ///< on top of the current one
  std::string signal_when = {};  ///< send `signal` as soon as standard error contains this
  int signal = 0;
  std::size_t file_limit = 0;   ///< no file may grow beyond so many bytes: a full disk
  double timeout_seconds = 60;  ///< then it is killed
};

/// Runs gsc (GSC_PROGRAM) with `folder` as current folder.
ProgramResult run_program(const std::filesystem::path& folder, const std::vector<std::string>& words,
                          const ProgramOptions& options = {});

std::string read_file(const std::filesystem::path& path);
void write_file(const std::filesystem::path& path, const std::string& bytes);

}  // namespace gsc::test
