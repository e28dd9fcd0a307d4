#include "pages/completion.h"

#include <algorithm>
#include <sstream>

namespace gsc::cli {
namespace {

bool has_capital(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

/// The help's word for a value tells: one|other are words as they are typed, MODEL.h5 is a file, DIR a folder. Where it
/// is a file but the word has no extension, the row says so.
Choices choices(const Option& option) {
  Choices result;
  result.extensions = option.extensions;
  result.experiments = option.positional && option.commands == kReproduce;
  std::istringstream parts(option.value);
  for (std::string part; std::getline(parts, part, '|');) {
    const std::size_t dot = part.find('.');
    if (part == "DIR")
      result.folders = true;
    else if (!has_capital(part))
      result.words.push_back(part);
    else if (dot != std::string::npos && part.find("...") == std::string::npos)
      result.extensions.push_back(part.substr(dot + 1));
  }
  return result;
}

std::vector<const Option*> arguments_of(Command command) {
  std::vector<const Option*> arguments = options_of(command);
  std::erase_if(arguments, [](const Option* option) { return !option->positional; });
  return arguments;
}

std::vector<std::string> flags_of(const Option& option) {
  if (option.positional) return {};
  if (option.letter.empty()) return {"--" + option.name};
  return {"-" + option.letter, "--" + option.name};
}

std::vector<std::string> flags_of(Command command, bool valued) {
  std::vector<std::string> flags;
  for (const Option* option : options_of(command)) {
    if (valued && option->is_switch()) continue;
    const std::vector<std::string> more = flags_of(*option);
    flags.insert(flags.end(), more.begin(), more.end());
  }
  if (!valued) flags.insert(flags.end(), {"-h", "--help"});
  return flags;
}

}  // namespace gsc::cli
