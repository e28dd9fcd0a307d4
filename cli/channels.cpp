#include "channels.h"

#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/sound.h>

#include "program_team.h"
#include "recording.h"
#include "streams.h"

namespace gsc::cli {
namespace {

struct Window {
  Index first, count;
};

/// The samples that --offset and --samples choose out of `all`.
Window window(const SeparateSettings& settings, Index all, const std::string& name) {
  if (settings.offset >= all)
    throw Error(fmt::format("offset is {}, but {} has only {} samples", settings.offset, name, all));
  const Index rest = all - settings.offset, count = settings.samples.value_or(rest);
  if (count > rest)
    throw Error(fmt::format("samples is {}, but {} has only {} after offset {}", count, name, rest, settings.offset));
  return {settings.offset, count};
}

Channels read_sounds(const std::vector<std::string>& files, const Settings& whole) {
  const SeparateSettings& settings = whole.separate;
  const RecordingSettings& recording = whole.recording;
  if (recording.channels_in)
    throw UsageError("channels-in is for tables of numbers; a sound file says itself what its channels are");
  Channels channels;
  channels.name = fmt::format("{}", fmt::join(files, ", "));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Sound sound = read_sound(files[i]);
    if (files.size() > 1 && sound.channels.rows() != 1)
      throw Error(fmt::format("{} has {} channels; where several files are given, each must have one", files[i],
                              sound.channels.rows()));
    if (i > 0 && sound.rate != channels.sound_rate)
      throw Error(fmt::format("{} has {} samples a second, {} has {}; bring them to the same rate first", files[0],
                              channels.sound_rate, files[i], sound.rate));
    if (i > 0 && sound.channels.cols() != channels.values.cols())
      throw Error(fmt::format("{} has {} samples, {} has {}; recordings of the same sources are equally long", files[0],
                              channels.values.cols(), files[i], sound.channels.cols()));
    channels.sound_rate = sound.rate;
    channels.values.conservativeResize(i == 0 ? sound.channels.rows() : i + 1, sound.channels.cols());
    channels.values.bottomRows(sound.channels.rows()) = sound.channels;
  }
  channels.rate = recording.rate.value_or(channels.sound_rate);
  const Window chosen = window(settings, channels.values.cols(), channels.name);
  channels.values = channels.values.middleCols(chosen.first, chosen.count).eval();
  return channels;
}

Channels read_table(const std::string& location, Settings& whole) {
  if (is_stream(location) && !team().alone())
    throw UsageError("the mixture is -, standard input, which only one of several processes gets; give a file");
  Samples samples = open_samples(location, whole, "separate", solo());
  Channels channels;
  channels.name = samples.data->name();
  channels.names = std::move(samples.names);
  channels.rate = samples.rate;
  if (!samples.orientation.empty()) channels.notes.push_back(samples.orientation);
  channels.notes.insert(channels.notes.end(), samples.notes.begin(), samples.notes.end());
  const Window chosen = window(whole.separate, samples.data->rows(), channels.name);
  Matrix values(chosen.count, samples.data->cols());
  samples.data->read(chosen.first, values);
  channels.values = values.transpose();
  return channels;
}

}  // namespace

Channels read_channels(const std::vector<std::string>& files, Settings& whole) {
  const SeparateSettings& settings = whole.separate;
  if (settings.samples == Index{0}) throw UsageError("samples is 0; it must be at least 1, or be left out");
  std::size_t sounds = 0;
  for (const std::string& file : files) sounds += is_sound_file(file) ? 1 : 0;
  if (files.size() > 1 && sounds < files.size())
    throw UsageError(
        fmt::format("several files ({}) have to be sound files of one channel each; put other channels into one table",
                    fmt::join(files, ", ")));
  return sounds > 0 ? read_sounds(files, whole) : read_table(files.front(), whole);
}

}  // namespace gsc::cli
