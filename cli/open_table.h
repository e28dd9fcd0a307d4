#pragma once
// The table a command works on: a file or standard input, perhaps turned round.

#include <gsc/data.h>
#include <gsc/team.h>

#include <memory>
#include <string>

#include "options/options.h"

namespace gsc::cli {

/// Opens `location` as open_data() does, or standard input for "-", as --input-format and --transpose say. `command` is
/// what cannot use pictures and sound; the message says who can. Throws Error, UsageError.
std::unique_ptr<Data> open_table(const std::string& location, const Settings& settings, const std::string& command);
/// The same on all ranks of a team.
std::unique_ptr<Data> open_table(const std::string& location, const Settings& settings, const std::string& command,
                                 Team& team);

/// What to tell the user of a table with more columns than rows, which is likely to lie on its side; else nothing.
std::string orientation_note(const Data& data, bool transposed);

}  // namespace gsc::cli
