#include "io/recording_group.h"

#include <fmt/format.h>

#include <cmath>

#include "io/file_error.h"

namespace gsc {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines(1);
  for (const char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

}  // namespace

void write_recording(hdf5::Image& image, const Recording& recording) {
  const hdf5::Handle group = image.create_group("/recording");
  hdf5::write_integer(group.get(), "window", recording.window);
  hdf5::write_integer(group.get(), "hop", recording.hop);
  hdf5::write_integer(group.get(), "channels", recording.channels);
  if (recording.rate > 0) hdf5::write_real(group.get(), "rate", recording.rate);
  // HDF5 has room for 64 kB in an attribute, which thousands of names fit into; more are not worth an error.
  const std::string names = fmt::format("{}", fmt::join(recording.names, "\n"));
  constexpr std::size_t kRoom = 60000;
  if (!names.empty() && names.size() <= kRoom) hdf5::write_text(group.get(), "names", names);
}

std::optional<Recording> read_recording(const hdf5::File& file, Index dimensions) {
  const hdf5::Handle group = hdf5::open_object(file, "/recording");
  if (!group) return {};
  const auto whole = [&](const char* name) {
    const std::int64_t value = hdf5::read_integer(file, group.get(), name);
    if (value < 1) fail(file.name, "attribute '{}' of /recording is {}; expected at least 1", name, value);
    return static_cast<Index>(value);
  };
  Recording recording;
  recording.window = whole("window");
  recording.hop = whole("hop");
  recording.channels = whole("channels");
  if (dimensions % recording.channels != 0 || dimensions / recording.channels != recording.window)
    fail(file.name, "/recording says windows of {} samples x {} channels, but the model has {} dimensions",
         recording.window, recording.channels, dimensions);
  if (hdf5::has_attribute(group.get(), "rate")) recording.rate = hdf5::read_real(file, group.get(), "rate");
  if (!std::isfinite(recording.rate) || recording.rate < 0)
    fail(file.name, "attribute 'rate' of /recording is {}; expected samples a second", recording.rate);
  if (hdf5::has_attribute(group.get(), "names"))
    recording.names = lines_of(hdf5::read_text(file, group.get(), "names"));
  if (!recording.names.empty() && static_cast<Index>(recording.names.size()) != recording.channels)
    fail(file.name, "/recording has {} names for {} channels", recording.names.size(), recording.channels);
  return recording;
}

}  // namespace gsc
