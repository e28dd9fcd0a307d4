#include "options/word_parser.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <stdexcept>

namespace gsc::cli {

ParsedWords parse_words(const std::vector<Flag>& flags, std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const CLI::Option* help_flag = app.add_flag("-h,--help");
  std::vector<const CLI::Option*> options;
  for (const Flag& flag : flags) {
    CLI::Option* option = flag.takes_value ? app.add_option(flag.names) : app.add_flag(flag.names);
    if (flag.several)
      option->expected(-1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    else
      option->take_last();
    options.push_back(option);
  }

  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--name: ..."
    throw std::runtime_error(text.substr(0, text.find(':')) + " needs a value");
  }  // any other CLI::Error is a std::runtime_error that speaks for itself

  ParsedWords parsed;
  parsed.help = help_flag->count() > 0;
  if (app.remaining_size() > 0) parsed.extras = app.remaining();
  for (const CLI::Option* option : options) parsed.values.push_back(option->results());
  return parsed;
}

std::vector<ConfigLine> parse_config(const std::string& path) {
  std::vector<ConfigLine> lines;
  for (const CLI::ConfigItem& item : CLI::ConfigTOML().from_file(path)) {
    if (item.name == "--") continue;  // where a section ends; ++ is where one begins
    lines.push_back(
        {item.parents.empty() ? "" : item.parents.front(), item.name == "++" ? "" : item.name, item.inputs});
  }
  return lines;
}

}  // namespace gsc::cli
