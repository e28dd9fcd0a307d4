#pragma once
// Standard input, output and error as a program in a pipe needs them. "-" as the name of a file stands for them.

#include <gsc/files.h>

#include <string>
#include <string_view>
#include <vector>

#include "options/command_line.h"

namespace gsc::cli {

inline bool is_stream(const std::string& path) { return path == "-"; }

/// What messages call an output: its name, or "standard output".
std::string output_name(const std::string& path);

/// Comes first in main(). A pipe that nobody reads makes writing fail instead of killing us, and where one of the three
/// is closed, no file that is opened later takes its place.
void prepare_streams();

/// Talk, on standard error. That nobody hears it is no reason to stop.
void talk(std::string_view text);

/// Results, on standard output. Throws std::system_error.
void put(std::string_view bytes);

/// Throws UsageError unless the result can go where --output says: "-", or a file with one of `extensions`.
void check_result(const CommandLine& line, const std::vector<std::string>& extensions);
/// Writes arrays where --output says; of "-" --output-format tells how.
void write_result(const Settings& settings, const std::vector<NamedArray>& arrays);

}  // namespace gsc::cli
