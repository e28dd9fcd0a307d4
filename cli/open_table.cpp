#include "open_table.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/sound.h>
#include <gsc/words.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "noisy_picture.h"
#include "streams.h"

namespace gsc::cli {
namespace {

/// What a command takes, for those who give it something else.
const char* takes(const std::string& command) {
  if (command == "info") return "tells about models and tables of numbers";
  if (command == "separate") return "works on sound and tables of numbers";
  return "works on tables of numbers";
}

/// Pictures and sound have commands of their own.
void refuse_media(const std::string& file, const Settings& settings, const std::string& command) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return;
  const FileKind kind = recognise(file).kind;
  if (is_picture(file) || kind == FileKind::picture)
    throw Error(fmt::format("{}: is a picture, and gsc {} {}; denoise it with gsc denoise {} -o OUT.png", file, command,
                            takes(command), file));
  if ((command == "separate" || settings.recording.window) && kind == FileKind::sound)
    throw Error(
        fmt::format("{}: is sound, but its name does not say so; give it the extension of its format, as .wav", file));
  if (is_sound_file(file) || kind == FileKind::sound)
    throw Error(fmt::format(
        "{}: is sound, and gsc {} {}; {}find the sources in it with gsc separate {} -o DIR", file, command,
        takes(command), command == "fit" || command == "infer" ? "take windows of it with --window N, or " : "", file));
}

std::unique_ptr<Data> read_standard_input(const Settings& settings, const std::string& command) {
  if (isatty(STDIN_FILENO) == 1)
    throw UsageError(
        fmt::format("the data is -, standard input, but that is a terminal; send a table into it, as in cat data.csv | "
                    "gsc {} - ...",
                    command));
  return read_stream(STDIN_FILENO, settings.input_format, "standard input");
}

std::unique_ptr<Data> read_as(const std::string& file, StreamFormat format) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw Error(fmt::format("{}: is a folder; name a file in it", file));
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0)
    throw Error(fmt::format("{}: cannot be opened: {}; is the name spelt right?", file, std::strerror(errno)));
  try {
    std::unique_ptr<Data> data = read_stream(descriptor, format, file);
    close(descriptor);
    return data;
  } catch (...) {
    close(descriptor);
    throw;
  }
}

}  // namespace

std::unique_ptr<Data> open_table(const std::string& location, const Settings& settings, const std::string& command) {
  std::unique_ptr<Data> data;
  if (is_stream(location)) {
    data = read_standard_input(settings, command);
  } else if (settings.input_format) {
    data = read_as(location, *settings.input_format);
  } else {
    refuse_media(location, settings, command);
    data = open_data(location);
  }
  return settings.transpose ? transposed(std::move(data)) : std::move(data);
}

std::unique_ptr<Data> open_table(const std::string& location, const Settings& settings, const std::string& command,
                                 Team& team) {
  if (team.alone()) return open_table(location, settings, command);
  if (!is_stream(location) && !settings.input_format && !settings.transpose) {
    all_or_none(team, [&] { refuse_media(location, settings, command); });
    return open_data(location, team);
  }
  // Standard input is the root's, and what is turned round is read as a whole.
  std::unique_ptr<Data> data;
  all_or_none(team, [&] {
    if (team.root()) data = open_table(location, settings, command);
  });
  return std::make_unique<RootData>(team, std::move(data));
}

std::string orientation_note(const Data& data, bool transposed) {
  if (data.cols() <= data.rows()) return "";
  return fmt::format(
      "{} has {} and {} columns{}: rows are data points, too few of them to learn {} dimensions from; if the "
      "columns are the data points, {}",
      data.name(), counted(data.rows(), "row"), data.cols(), transposed ? " once it is transposed" : "", data.cols(),
      transposed ? "leave out --transpose" : "add --transpose");
}

}  // namespace gsc::cli
