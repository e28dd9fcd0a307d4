#pragma once
// DATA of gsc fit and infer: a table of data points, or with --window a recording whose windows are the data points.

#include <gsc/files.h>
#include <gsc/recording.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "options/command_line.h"

namespace gsc::cli {

/// A recording as it was found: channels told from samples, the time left out.
struct Samples {
  std::shared_ptr<const Data> data;  ///< a row for every sample, a column for every channel
  std::vector<std::string> names;    ///< of the channels; empty: nobody said
  double rate = 0;                   ///< samples a second; 0: nobody said
  std::string orientation;           ///< in words, what was guessed about channels and samples of a table
  std::vector<std::string> notes;    ///< in words, what else was found
};
/// A table or a sound file. `settings.recording.channels_in` gets what was found. On all ranks of a team.
Samples open_samples(const std::string& location, Settings& settings, const std::string& command, Team& team);

struct Input {
  std::unique_ptr<Data> data;
  std::optional<Recording> recording;   ///< if the data points are its windows
  std::optional<Recording> learned;     ///< what the model was learned from
  const WindowData* windows = nullptr;  ///< the same as `data` then
  std::vector<std::string> notes;

  /// "500 windows of 64 samples x 3 channels", "500 data points of 192 dimensions".
  std::string text() const;
  /// Throws Error unless the data points have as many values as the model has dimensions.
  void check(const Model& model, const std::string& model_name) const;
};
/// `of_model` is what the model that is used remembers (null: none is): options that are left out are taken from there,
/// and become settings. On all ranks of a team. Throws UsageError for options that make no sense together.
Input open_input(const CommandLine& line, Settings& settings, const std::string& command, const ModelFile* of_model,
                 Team& team);

/// The options that describe a recording, for those who show the options of a model.
RecordingSettings settings_of(const Recording& recording);

/// "windows of 64 samples x 3 channels (Fz, Cz, Pz), starting every 16 samples, 250 samples a second".
std::string recording_text(const Recording& recording);

/// First samples of all windows, and their seconds if the rate is known, as arrays to be written beside others.
class WindowTimes {
 public:
  explicit WindowTimes(const Input& input);
  void append_to(std::vector<NamedArray>& arrays) const;

 private:
  Vector start_, time_;  // empty: nothing to write
};

}  // namespace gsc::cli
