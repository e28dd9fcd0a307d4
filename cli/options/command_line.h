#pragma once
// Words of the command line and lines of the config file -> Settings.

#include <string>
#include <utility>
#include <vector>

#include "options/options.h"

namespace gsc::cli {

class CommandLine {
 public:
  /// Throws UsageError for anything it does not understand; `help` is set instead if help was asked for.
  CommandLine(Command command, std::vector<std::string> words);

  bool given(const std::string& name) const;

  Settings settings;
  bool help = false;
  std::string note;  ///< what the user should know about the words: that one has another name now

 private:
  void read_config(Command command, const std::string& path);

  std::vector<std::pair<const Option*, std::vector<std::string>>> values_;
};

/// ". Did you mean ...?" for the nearest of `names`, or "." if none is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& names);

}  // namespace gsc::cli
