#include "command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <numeric>

#include "help.h"

namespace gsc::cli {
namespace {

/// Edit distance: insertions, deletions and replacements that turn one word into the other.
std::size_t distance(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string flag_names(const Option& option) {
  if (option.positional) return option.name;
  return option.letter.empty() ? "--" + option.name : "-" + option.letter + ",--" + option.name;
}

std::vector<std::string> flags_of(Command command) {
  std::vector<std::string> names{"--help"};
  for (const Option* option : options_of(command))
    if (!option->positional) names.push_back("--" + option->name);
  return names;
}

std::string help_of(Command command) { return fmt::format("gsc {} --help", text_of(command).name); }

/// What CLI11 could not place: options nobody declared, arguments nobody expected.
[[noreturn]] void refuse(Command command, const std::vector<std::string>& words) {
  const auto is_option = [](const std::string& word) { return word.size() > 1 && word.front() == '-'; };
  const auto first = std::find_if(words.begin(), words.end(), is_option);
  if (first == words.end())
    throw UsageError(fmt::format("unexpected argument '{}'; see {}", words.front(), help_of(command)));
  const std::string name = first->substr(0, first->find('='));
  throw UsageError(
      fmt::format("unknown option {}{} See {}", name, suggestion(name, flags_of(command)), help_of(command)));
}

/// Whom a [section] of the config file is for.
Command section_of(const std::string& path, const std::string& section) {
  std::vector<std::string> names;
  for (const CommandText& text : command_texts()) {
    if (text.name == section) return text.command;
    names.push_back(text.name);
  }
  throw UsageError(fmt::format("{}: unknown section [{}]{}", path, section, suggestion(section, names)));
}

}  // namespace

std::string suggestion(const std::string& word, const std::vector<std::string>& names) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& name : names) {
    // The beginning of a name counts as near: --cand for --candidates.
    const bool begins = word.size() > 2 && name.compare(0, word.size(), word) == 0;
    const std::size_t steps = begins ? 0 : distance(word, name);
    if (steps >= least) continue;
    least = steps;
    best = name;
  }
  return best.empty() ? "." : fmt::format(". Did you mean {}?", best);
}

CommandLine::CommandLine(Command command, std::vector<std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const CLI::Option* help_flag = app.add_flag("-h,--help");
  std::vector<std::pair<const Option*, CLI::Option*>> parsed;
  for (const Option* option : options_of(command)) {
    CLI::Option* flag = option->is_switch() ? app.add_flag(flag_names(*option)) : app.add_option(flag_names(*option));
    if (option->several)
      flag->expected(-1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    else
      flag->take_last();
    parsed.emplace_back(option, flag);
  }

  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(words);
  } catch (const CLI::ArgumentMismatch& error) {
    const std::string text = error.what();  // "--name: ..."
    throw UsageError(fmt::format("{} needs a value; see {}", text.substr(0, text.find(':')), help_of(command)));
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (help_flag->count() > 0) {
    help = true;
    return;
  }
  if (app.remaining_size() > 0) refuse(command, app.remaining());

  for (const auto& [option, flag] : parsed) {
    if (flag->count() > 0) values_.emplace_back(option, flag->results());
  }
  const auto config =
      std::find_if(values_.begin(), values_.end(), [](const auto& v) { return v.first->name == "config"; });
  if (config != values_.end()) read_config(command, std::string(config->second.back()));
  apply(settings);
  for (const Option* option : options_of(command)) {
    if (!option->required || given(option->name)) continue;
    const std::string name = option->positional ? option->value : fmt::format("-{} {}", option->letter, option->value);
    throw UsageError(fmt::format("{} is missing ({}); see {}", name, option->help, help_of(command)));
  }
}

/// Keys stand for the options of the same name. Those before the first [section] are for every command that has such an
/// option, those in [fit] for gsc fit only; the latter are looked at first.
void CommandLine::read_config(Command command, const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored))
    throw UsageError(fmt::format("config: {} is not a file that can be read", path));
  std::vector<CLI::ConfigItem> items;
  try {
    items = CLI::ConfigTOML().from_file(path);
  } catch (const CLI::Error& error) {
    throw UsageError(fmt::format("config: {}: {}", path, error.what()));
  }
  std::stable_partition(items.begin(), items.end(), [](const CLI::ConfigItem& item) { return !item.parents.empty(); });

  const std::vector<Option>& table = option_table();
  const std::vector<const Option*> options = options_of(command);
  for (const CLI::ConfigItem& item : items) {
    if (!item.parents.empty() && section_of(path, item.parents.front()) != command) continue;
    if (item.name == "++" || item.name == "--") continue;  // where a section begins and ends
    std::string key = item.name;
    std::replace(key.begin(), key.end(), '_', '-');
    const auto is_named = [&](const auto& option) { return option.name == key; };
    const auto found = std::find_if(options.begin(), options.end(), [&](const Option* o) { return is_named(*o); });
    if (found == options.end() || key == "config") {
      if (item.parents.empty() && key != "config" && std::any_of(table.begin(), table.end(), is_named)) continue;
      std::vector<std::string> names;
      for (const Option* option : options) names.push_back(option->name);
      throw UsageError(fmt::format("{}: unknown key '{}'{}", path, item.name, suggestion(key, names)));
    }
    if (item.inputs.size() != 1 && !((*found)->several && !item.inputs.empty()))
      throw UsageError(fmt::format("{}: '{}' has {} values; one is expected", path, item.name, item.inputs.size()));
    if (given(key)) continue;
    values_.emplace_back(*found, item.inputs);
    try {
      (*found)->set(settings, item.inputs);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", path, error.what()));
    }
  }
}

bool CommandLine::given(const std::string& name) const {
  return std::any_of(values_.begin(), values_.end(), [&](const auto& value) { return value.first->name == name; });
}

void CommandLine::apply(Settings& target) const {
  for (const auto& [option, texts] : values_) option->set(target, texts);
}

}  // namespace gsc::cli
