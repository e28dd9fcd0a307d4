#pragma once
// The options of gsc compare: those of fit for a table, those of denoise for a picture.

#include <vector>

#include "options/command_line.h"

namespace gsc::cli {

/// Throws UsageError if an option is given that only the other kind of input has.
void check_kind(const CommandLine& line, bool picture);

/// The options that count for this kind of input and one or another of the methods, as options_json().
Json compare_options_json(Settings settings, const std::vector<Method>& methods, bool picture);

}  // namespace gsc::cli
