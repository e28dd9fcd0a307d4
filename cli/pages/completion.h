#pragma once
// Completion of command lines in bash, zsh and fish. Each script is made from the table of options.

#include <string>
#include <vector>

#include "options/options.h"

namespace gsc::cli {

/// What may stand for the value of an option or argument, as far as it can be known beforehand.
struct Choices {
  std::vector<std::string> words;
  std::vector<std::string> extensions;  ///< of files, "h5"
  bool folders = false;
  bool experiments = false;  ///< names of experiments, which gsc reproduce list knows

  bool none() const { return words.empty() && extensions.empty() && !folders && !experiments; }
};
Choices choices(const Option& option);

/// Arguments of a command in their order.
std::vector<const Option*> arguments_of(Command command);
/// The options of a command as they are typed: "-o", "--output". With `valued`, those that are followed by a value
/// only.
std::vector<std::string> flags_of(Command command, bool valued = false);
/// Those of one option.
std::vector<std::string> flags_of(const Option& option);

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace gsc::cli
