#include "channels.h"

#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/sound.h>

#include "open_table.h"
#include "program_team.h"
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

Channels read_sounds(const std::vector<std::string>& files, const SeparateSettings& settings) {
  if (settings.channels_in)
    throw UsageError("channels-in is for tables of numbers; a sound file says itself what its channels are");
  Channels channels;
  channels.name = fmt::format("{}", fmt::join(files, ", "));
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Sound sound = read_sound(files[i]);
    if (files.size() > 1 && sound.channels.rows() != 1)
      throw Error(fmt::format("{} has {} channels; where several files are given, each must have one", files[i],
                              sound.channels.rows()));
    if (i > 0 && sound.rate != channels.rate)
      throw Error(fmt::format("{} has {} samples a second, {} has {}; bring them to the same rate first", files[0],
                              channels.rate, files[i], sound.rate));
    if (i > 0 && sound.channels.cols() != channels.values.cols())
      throw Error(fmt::format("{} has {} samples, {} has {}; recordings of the same sources are equally long", files[0],
                              channels.values.cols(), files[i], sound.channels.cols()));
    channels.rate = sound.rate;
    channels.values.conservativeResize(i == 0 ? sound.channels.rows() : i + 1, sound.channels.cols());
    channels.values.bottomRows(sound.channels.rows()) = sound.channels;
  }
  const Window chosen = window(settings, channels.values.cols(), channels.name);
  channels.values = channels.values.middleCols(chosen.first, chosen.count).eval();
  return channels;
}

/// There are more samples than channels.
ChannelsIn guess_orientation(const std::string& name, Index rows, Index cols) {
  if (rows == cols)
    throw UsageError(fmt::format("{} is square ({} x {}); say where the channels are: --channels-in rows or columns",
                                 name, rows, cols));
  return rows < cols ? ChannelsIn::rows : ChannelsIn::columns;
}

Channels read_table(const std::string& location, SeparateSettings& settings, const Settings& whole) {
  if (is_stream(location) && !team().alone())
    throw UsageError("the mixture is -, standard input, which only one of several processes gets; give a file");
  const std::unique_ptr<Data> data = open_table(location, whole, "separate");
  const Index rows = data->rows(), cols = data->cols();
  Channels channels;
  channels.name = data->name();
  if (!settings.channels_in) {
    settings.channels_in = guess_orientation(channels.name, rows, cols);
    const bool in_rows = settings.channels_in == ChannelsIn::rows;
    channels.note = fmt::format("took the {} {} of {} for channels, as there are more {} ({}); --channels-in {} if not",
                                in_rows ? rows : cols, in_rows ? "rows" : "columns", channels.name,
                                in_rows ? "columns" : "rows", in_rows ? cols : rows, in_rows ? "columns" : "rows");
  }
  if (settings.channels_in == ChannelsIn::rows) {
    const Window chosen = window(settings, cols, channels.name);
    Matrix all(rows, cols);
    data->read(0, all);
    channels.values = all.middleCols(chosen.first, chosen.count);
  } else {
    const Window chosen = window(settings, rows, channels.name);
    Matrix samples(chosen.count, cols);
    data->read(chosen.first, samples);
    channels.values = samples.transpose();
  }
  return channels;
}

}  // namespace

Channels read_channels(const std::vector<std::string>& files, SeparateSettings& settings, const Settings& whole) {
  if (settings.samples == Index{0}) throw UsageError("samples is 0; it must be at least 1, or be left out");
  std::size_t sounds = 0;
  for (const std::string& file : files) sounds += is_sound_file(file) ? 1 : 0;
  if (files.size() > 1 && sounds < files.size())
    throw UsageError(
        fmt::format("several files ({}) have to be sound files of one channel each; put other channels into one table",
                    fmt::join(files, ", ")));
  return sounds > 0 ? read_sounds(files, settings) : read_table(files.front(), settings, whole);
}

}  // namespace gsc::cli
