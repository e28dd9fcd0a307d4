#include "recording.h"

#include <fmt/format.h>
#include <gsc/arrays.h>
#include <gsc/sound.h>
#include <gsc/team.h>
#include <gsc/words.h>

#include <cmath>

#include "checks.h"
#include "missing.h"
#include "open_table.h"
#include "progress.h"

namespace gsc::cli {
namespace {

std::string size_text(Index window, Index channels) {
  return fmt::format("{} x {}", counted(window, "sample"), counted(channels, "channel"));
}

/// There are more samples than channels.
ChannelsIn guess_orientation(const std::string& name, Index rows, Index cols) {
  if (rows == cols)
    throw UsageError(fmt::format("{} is square ({} x {}); say where the channels are: --channels-in rows or columns",
                                 name, rows, cols));
  return rows < cols ? ChannelsIn::rows : ChannelsIn::columns;
}

std::string orientation_text(const Data& table, ChannelsIn found) {
  const bool in_rows = found == ChannelsIn::rows;
  return fmt::format("took the {} {} of {} for channels, as there are more {} ({}); --channels-in {} if not",
                     in_rows ? table.rows() : table.cols(), in_rows ? "rows" : "columns", table.name(),
                     in_rows ? "columns" : "rows", in_rows ? table.cols() : table.rows(), in_rows ? "columns" : "rows");
}

/// "column 1 'time' rises evenly by 0.004"
std::string time_evidence(const TimeColumn& time, bool in_rows) {
  const std::string which =
      fmt::format("{} 1{}", in_rows ? "row" : "column", time.name.empty() ? "" : fmt::format(" '{}'", time.name));
  if (time.step > 0) return fmt::format("{} rises evenly by {:.6g}", which, time.step);
  return fmt::format("{} is the time by its name, though it does not rise evenly", which);
}

std::string time_text(const TimeColumn& time, bool in_rows) {
  const std::string rate = time.rate > 0 ? fmt::format(" ({:.6g} samples a second)", time.rate) : "";
  return fmt::format("{}: taken as the time{}, not as a channel; --keep-time keeps it", time_evidence(time, in_rows),
                     rate);
}

Samples read_one_sound(const std::string& file, const RecordingSettings& settings, Team& team) {
  if (settings.channels_in)
    throw UsageError("channels-in is for tables of numbers; a sound file says itself what its channels are");
  Samples samples;
  std::unique_ptr<Data> data;
  all_or_none(team, [&] {
    if (!team.root()) return;
    const Sound sound = read_sound(file);
    samples.rate = sound.rate;
    data = std::make_unique<MatrixData>(sound.channels.transpose(), file);
  });
  if (!team.alone()) {
    team.sum(&samples.rate, 1);  // which only the root has read
    data = std::make_unique<RootData>(team, std::move(data));
  }
  samples.data = std::move(data);
  return samples;
}

Samples samples_of(std::unique_ptr<Data> table, RecordingSettings& asked, Team& team) {
  Samples samples;
  if (!asked.channels_in) {
    asked.channels_in = guess_orientation(table->name(), table->rows(), table->cols());
    samples.orientation = orientation_text(*table, *asked.channels_in);
  }
  const bool in_rows = asked.channels_in == ChannelsIn::rows;
  if (in_rows) table = transposed(std::move(table), team);
  samples.data = std::move(table);
  if (!asked.keep_time)
    if (const auto time = find_time(*samples.data, team)) {
      samples.notes.push_back(time_text(*time, in_rows));
      samples.rate = time->rate;
      samples.data = without_first_column(samples.data);
    }
  samples.names = samples.data->column_names();
  return samples;
}

bool is_sound(const std::string& location, const Settings& settings) {
  return is_sound_file(location) && !settings.input_format;
}

Samples with_rate(Samples samples, const std::optional<double>& rate) {
  if (rate) samples.rate = *rate;
  return samples;
}

void check_rate(const std::optional<double>& rate) {
  if (rate == 0.0) throw UsageError("rate is 0; it must be above 0 samples a second, or be left out");
}

/// Everything that makes no sense together.
void check_options(const CommandLine& line, const Settings& settings) {
  const RecordingSettings& asked = settings.recording;
  for (const char* name : {"hop", "rate", "channels-in", "keep-time"})
    if (!asked.window && line.given(name))
      throw UsageError(fmt::format("{} is for windows of a recording; add --window N, or leave {} out", name, name));
  if (asked.window && settings.transpose)
    throw UsageError("transpose is for tables of data points; for a recording say --channels-in rows or columns");
  if (asked.hop == Index{0})
    throw UsageError("hop is 0; windows must start at least 1 sample apart, or leave it out to lay them end to end");
  if (asked.window == Index{0}) throw UsageError("window is 0; it must be at least 1 sample");
}

/// Where the recording is not as the one the model was learned from, though its windows fit.
void compare_with(const Recording& learned, const Samples& samples, std::vector<std::string>& notes) {
  const std::string name = samples.data->name();
  if (learned.rate > 0 && samples.rate > 0 && std::abs(learned.rate - samples.rate) > 1e-6 * learned.rate)
    notes.push_back(fmt::format("{} has {:.6g} samples a second, but the model was learned at {:.6g}", name,
                                samples.rate, learned.rate));
  if (!learned.names.empty() && !samples.names.empty() && learned.names != samples.names &&
      learned.names.size() == samples.names.size())
    notes.push_back(fmt::format("the channels of {} are {}, but those of the model {}", name,
                                fmt::join(samples.names, ", "), fmt::join(learned.names, ", ")));
}

Input windows_of(Samples samples, RecordingSettings& asked, bool gaps) {
  const Index window = *asked.window, hop = asked.hop.value_or(window);
  auto windows = std::make_unique<WindowData>(samples.data, window, hop, gaps);
  Input input;
  input.recording = {window, hop, windows->channels(), std::move(samples.names), samples.rate};
  input.notes = std::move(samples.notes);
  if (windows->left_over() > 0)
    input.notes.push_back(fmt::format("the last {} of {} samples make no whole window and are left out",
                                      windows->left_over(), windows->samples()));
  asked.hop = hop;
  if (samples.rate > 0) asked.rate = samples.rate;
  input.windows = windows.get();
  input.data = std::move(windows);
  return input;
}

/// What a table of data points should be told about, when a model is learned from it.
std::vector<std::string> table_notes(const Data& table, bool transposed, Team& team) {
  std::vector<std::string> notes;
  if (std::string turned = orientation_note(table, transposed); !turned.empty()) notes.push_back(std::move(turned));
  if (const auto time = find_time(table, team))
    notes.push_back(
        fmt::format("{}, as time does, but is learned like any other; if the table is a recording, --window N learns "
                    "windows of it and leaves the time out",
                    time_evidence(*time, false)));
  return notes;
}

}  // namespace

Samples open_samples(const std::string& location, Settings& settings, const std::string& command, Team& team) {
  RecordingSettings& asked = settings.recording;
  check_rate(asked.rate);
  return with_rate(is_sound(location, settings)
                       ? read_one_sound(location, asked, team)
                       : samples_of(open_table(location, settings, command, team), asked, team),
                   asked.rate);
}

Input open_input(const CommandLine& line, Settings& settings, const std::string& command, const ModelFile* of_model,
                 Team& team) {
  RecordingSettings& asked = settings.recording;
  const std::optional<Recording> learned = of_model ? of_model->recording : std::nullopt;
  const bool by_model = learned && !asked.window;
  const bool asked_hop = asked.hop.has_value();
  if (by_model) asked.window = learned->window;
  if (learned && !asked_hop) asked.hop = learned->hop;
  check_options(line, settings);
  Input input;
  if (!asked.window) {
    input.data = open_table(settings.data, settings, command, team);
    if (!of_model) input.notes = table_notes(*input.data, settings.transpose, team);
    return input;
  }
  std::unique_ptr<Data> table;
  if (!is_sound(settings.data, settings)) table = open_table(settings.data, settings, command, team);
  // What gsc sample wrote has a whole window in every row.
  const bool cut_already =
      by_model && !asked_hop && learned->window > 1 && table && table->cols() == learned->dimensions();
  if (cut_already) {
    input.notes.push_back(fmt::format(
        "the rows of {} have {} values, as many as a window: each is taken as a window, not as a sample (--window {} "
        "if it is a sample)",
        table->name(), table->cols(), learned->window));
    input.data = std::move(table);
    asked.window.reset();
    asked.hop.reset();
    return input;
  }
  check_rate(asked.rate);
  // A mask is of the shape of the file, time column and all; a value may stand for something else in the time.
  const bool gaps = settings.fit.inference.missing == Missing::nan;
  if (gaps && !settings.mask.empty() && !table)
    throw UsageError(
        fmt::format("mask is {}, but {} is a sound file; masks are for tables", settings.mask, settings.data));
  if (gaps && table) table = without_masked(std::move(table), settings, command, team);
  Samples samples = with_rate(
      table ? samples_of(std::move(table), asked, team) : read_one_sound(settings.data, asked, team), asked.rate);
  // Rows are samples in most tables.
  if (asked.channels_in == ChannelsIn::rows && !samples.orientation.empty())
    samples.notes.insert(samples.notes.begin(), samples.orientation);
  if (learned) compare_with(*learned, samples, samples.notes);
  if (learned && samples.rate == 0) samples.rate = learned->rate;
  if (learned && samples.names.empty() && learned->channels == samples.data->cols()) samples.names = learned->names;
  if (gaps) samples.data = without_value(std::move(samples.data), settings);
  input = windows_of(std::move(samples), asked, gaps);
  input.learned = learned;
  if (!of_model && input.data->rows() == 1)
    throw Error(
        fmt::format("{}: {} of {} make one window of {}, and learning needs at least two; choose a shorter "
                    "--window or a smaller --hop",
                    input.data->name(), counted(input.windows->samples(), "sample"),
                    counted(input.windows->channels(), "channel"), *asked.window));
  if (!of_model && input.data->rows() < input.data->cols())
    input.notes.push_back(fmt::format("{} of {} values each are few to learn from{}",
                                      counted(input.data->rows(), "window"), input.data->cols(),
                                      *asked.hop > 1 ? "; a smaller --hop gives more" : ""));
  return input;
}

std::string Input::text() const {
  if (!recording) return fmt::format("{} of {}", data_points_text(data->rows()), counted(data->cols(), "dimension"));
  return fmt::format("{} of {}", counted(data->rows(), "window"), size_text(recording->window, recording->channels));
}

void Input::check(const Model& model, const std::string& model_name) const {
  if (!recording) return check_dimensions(*data, model, model_name);
  if (data->cols() == model.dimensions()) return;
  const Index fitting = model.dimensions() % recording->channels == 0 ? model.dimensions() / recording->channels : 0;
  const std::string remedy =
      learned       ? fmt::format("it was learned from {}", recording_text(*learned))
      : fitting > 0 ? fmt::format("with {}, --window {} fits", counted(recording->channels, "channel"), fitting)
                    : std::string("give a recording with the channels that it was learned from");
  throw Error(fmt::format("{}: windows of {} have {} values, but the model {} has {} dimensions; {}", data->name(),
                          size_text(recording->window, recording->channels), data->cols(), model_name,
                          model.dimensions(), remedy));
}

RecordingSettings settings_of(const Recording& recording) {
  RecordingSettings settings;
  settings.window = recording.window;
  settings.hop = recording.hop;
  if (recording.rate > 0) settings.rate = recording.rate;
  return settings;
}

std::string recording_text(const Recording& recording) {
  std::string text = "windows of " + size_text(recording.window, recording.channels);
  if (!recording.names.empty()) text += fmt::format(" ({})", fmt::join(recording.names, ", "));
  text += fmt::format(", starting every {}", recording.hop == 1 ? "sample" : fmt::format("{} samples", recording.hop));
  if (recording.rate > 0) text += fmt::format(", {:.6g} samples a second", recording.rate);
  return text;
}

WindowTimes::WindowTimes(const Input& input) {
  if (!input.windows) return;
  start_.resize(input.windows->rows());
  for (Index i = 0; i < start_.size(); ++i) start_[i] = static_cast<double>(input.windows->start(i));
  if (input.recording->rate > 0) time_ = start_ / input.recording->rate;
}

void WindowTimes::append_to(std::vector<NamedArray>& arrays) const {
  if (start_.size() > 0) arrays.push_back(named("start", start_));
  if (time_.size() > 0) arrays.push_back(named("time", time_));
}

}  // namespace gsc::cli
