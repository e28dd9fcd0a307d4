#pragma once
// The library calls options max_active; so do files and JSON. On the command line they are --max-active.

#include <string>

#include "options/options.h"

namespace gsc::cli {

/// A text of the library in which options of learning are called as on the command line, where their names can be told
/// from other words: those with a _.
std::string with_flags(const std::string& text);

/// A message about options of the command with their names as on the command line: also where they are a word as others,
/// if the message says what they are or what they are for.
std::string in_flags(const std::string& message, Command command);

}  // namespace gsc::cli
