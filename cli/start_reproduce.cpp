// The experiments are a program of their own, gsc-reproduce, so that gsc itself stays small and quick to build.
// `gsc reproduce` becomes that program.

#include <fmt/format.h>
#include <gsc/version.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "commands.h"

namespace gsc::cli {
namespace {

namespace fs = std::filesystem;

/// Beside gsc in a build, in libexec/gsc where gsc was installed.
fs::path find_program() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder / "gsc-reproduce", folder.parent_path() / "libexec/gsc/gsc-reproduce"})
    if (fs::is_regular_file(place, error)) return place;
  throw Error(fmt::format(
      "{}/gsc-reproduce is missing, the program with the experiments; ./run build makes it, the package gsc has it",
      folder.string()));
}

/// As this process was started with, each followed by a zero byte.
std::string words_of_this_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

int run_reproduce(const CommandLine&) {
  const fs::path program = find_program();
  std::string words = words_of_this_process();
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < words.size(); at = words.find('\0', at) + 1) arguments.push_back(words.data() + at);
  arguments.push_back(nullptr);
  ::execv(program.c_str(), arguments.data());
  throw Error(fmt::format("{} cannot be started: {}; build or install gsc {} anew", program.string(),
                          std::generic_category().message(errno), GSC_VERSION));
}

}  // namespace gsc::cli
