#include "streams.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "checks.h"

namespace gsc::cli {

std::string output_name(const std::string& path) { return is_stream(path) ? "standard output" : path; }

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  // A new descriptor is the lowest that is free, so this fills 0, 1 and 2 in order.
  for (int descriptor = 0; descriptor <= STDERR_FILENO; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != descriptor) return;
}

void talk(std::string_view text) { static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr)); }

void put(std::string_view bytes) {
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size())
    throw std::system_error(errno, std::generic_category(), "standard output could not be written");
}

void check_result(const CommandLine& line, const std::vector<std::string>& extensions) {
  const Settings& settings = line.settings;
  if (!is_stream(settings.output)) {
    if (line.given("output-format"))
      throw UsageError(fmt::format("output-format is for -o -, standard output; the format of {} is told by its name",
                                   settings.output));
    return check_output({"output", settings.output, extensions});
  }
  if (settings.output_format == StreamFormat::npy && isatty(STDOUT_FILENO) == 1)
    throw UsageError(
        "output is -, but standard output is a terminal, which cannot show .npy; redirect it, as > out.npy");
}

void write_result(const Settings& settings, const std::vector<NamedArray>& arrays) {
  if (!is_stream(settings.output)) return write_arrays(settings.output, arrays);
  write_stream(put, settings.output_format.value_or(StreamFormat::csv), arrays, output_name(settings.output));
}

}  // namespace gsc::cli
