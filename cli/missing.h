#pragma once
// --missing and --mask of gsc fit and infer: which values of DATA are missing.

#include "recording.h"

namespace gsc::cli {

/// Makes inference.missing follow from the options, before anything is read; where they are left out it stays what a
/// model or checkpoint says. Throws UsageError unless --missing is error, nan or a number.
void choose_missing(const CommandLine& line, Settings& settings);

/// Makes NaN of what the options call missing; of a recording open_input() has done so before it was cut. On all ranks
/// of a team. Throws Error for a mask of another shape.
void mark_missing(const Settings& settings, const std::string& command, Team& team, Input& input);

/// A note if --missing VALUE or --mask was given but all values are there: a sign that was spelt differently, say.
/// Reads up to the first that is missing.
void note_nothing_missing(const Settings& settings, const Team& team, Input& input);

/// The data with NaN for what has the value of --missing, if that is a number.
std::shared_ptr<const Data> without_value(std::shared_ptr<const Data> data, const Settings& settings);
/// The data with NaN for what --mask hides, if there is one.
std::unique_ptr<Data> without_masked(std::unique_ptr<Data> data, const Settings& settings, const std::string& command,
                                     Team& team);

}  // namespace gsc::cli
