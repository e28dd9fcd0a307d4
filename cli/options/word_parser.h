#pragma once
// CLI11, behind a narrow door. It is all in headers and takes longer to compile than the rest of the command line
// together, so one file includes it, and that file knows neither our options nor our matrices.

#include <string>
#include <vector>

namespace gsc::cli {

/// What may stand on a command line.
struct Flag {
  std::string names;  ///< "-o,--output"; without dashes it is an argument
  bool takes_value = true;
  bool several = false;  ///< takes all values that follow it
};

struct ParsedWords {
  std::vector<std::vector<std::string>> values;  ///< of each flag, in their order; empty where it was not given
  std::vector<std::string> extras;               ///< options nobody declared, arguments nobody expected
  bool help = false;                             ///< -h or --help was there
};

/// Throws std::runtime_error if a value is missing.
ParsedWords parse_words(const std::vector<Flag>& flags, std::vector<std::string> words);

struct ConfigLine {
  std::string section;  ///< empty before the first [section]
  std::string key;      ///< empty: this is where the section begins
  std::vector<std::string> values;
};

/// The lines of a TOML file. Throws std::runtime_error if it is none.
std::vector<ConfigLine> parse_config(const std::string& path);

}  // namespace gsc::cli
