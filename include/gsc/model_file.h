#pragma once
// Models and checkpoints in files, written as <gsc/arrays.h> writes. Target gsc::io.

#include <gsc/export.h>
#include <gsc/fit.h>
#include <gsc/recording.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace gsc {

/// How a table says which of its values are missing (gsc/missing.h), where it is not by NaN alone, as
/// InferenceOptions::missing has it.
struct MissingSigns {
  std::string value;  ///< the number that stands for missing values, or beside a mask "nan"; empty: not told
  bool mask = false;  ///< whether a mask says it
};

/// What a model file holds.
struct ModelFile {
  FitState state;                           ///< parameters, history, rescues
  std::optional<FitOptions> options;        ///< how it was learned, if it was
  std::string version;                      ///< of the program that wrote it
  std::optional<Recording> recording = {};  ///< whose windows it was learned from, if it was
  MissingSigns missing = {};                ///< of the table that it was learned from

  /// How it was learned; the default for a model that was not.
  Method method() const { return options ? options->inference.method : kUsualMethod; }
};
/// `checkpoint`: also what only going on needs and is as large as the data (MethodState::columns).
GSC_EXPORT void save_model(const std::filesystem::path& path, const ModelFile& file, bool checkpoint = false);
GSC_EXPORT ModelFile load_model(const std::filesystem::path& path);

/// Names the options in which two runs differ so that one cannot go on from the other; empty if it can.
GSC_EXPORT std::vector<std::string> differing_options(const FitOptions& checkpoint, const FitOptions& now);

/// Saves a checkpoint (a model file) every `every` iterations, and when asked to.
class GSC_EXPORT Checkpoint final : public Watcher {
 public:
  Checkpoint(std::filesystem::path path, const FitOptions& options, int every, std::optional<Recording> recording = {},
             MissingSigns missing = {})
      : path_(std::move(path)),
        options_(options),
        every_(every),
        recording_(std::move(recording)),
        missing_(std::move(missing)) {}
  void on_iteration(const FitState& state) override;
  bool needs_method_state(const FitState& state) override { return due(state); }
  void save(const FitState& state) const;

 private:
  bool due(const FitState& state) const;
  std::filesystem::path path_;
  FitOptions options_;
  int every_;
  std::optional<Recording> recording_;
  MissingSigns missing_;
};

}  // namespace gsc
