#pragma once
// --missing and --mask of gsc fit and infer: which values of DATA are missing.

#include <gsc/model_file.h>

#include "recording.h"

namespace gsc::cli {

/// Makes inference.missing follow from the options, before anything is read; where they are left out it stays what the
/// model or checkpoint `learned` says, if there is one, and so does the number that stands for missing values. With a
/// mask settings.missing then says what a NaN is that it does not hide. Throws UsageError unless --missing is error,
/// nan or a number.
void choose_missing(const CommandLine& line, Settings& settings, const ModelFile* learned);

/// For the model file.
MissingSigns missing_signs(const Settings& settings);

/// Makes NaN of what the options call missing; of a recording open_input() has done so before it was cut. On all ranks
/// of a team. Throws Error for a mask of another shape.
void mark_missing(const Settings& settings, const std::string& command, Team& team, Input& input);

/// A note if --missing VALUE or --mask was given but all values are there: a sign that was spelt differently, say. Also
/// if the model was learned with gaps and nobody says anything of them now, but all values are there, or a mask was
/// used then. Reads up to the first value that is missing.
void note_missing(const CommandLine& line, const Settings& settings, const ModelFile* learned, const Team& team,
                  Input& input);

/// The data with NaN for what has the value of --missing, if that is a number.
std::shared_ptr<const Data> without_value(std::shared_ptr<const Data> data, const Settings& settings);
/// The data with NaN for what --mask hides, if there is one.
std::unique_ptr<Data> without_masked(std::unique_ptr<Data> data, const Settings& settings, const std::string& command,
                                     Team& team);

}  // namespace gsc::cli
