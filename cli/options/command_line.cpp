#include "options/command_line.h"

#include <fmt/format.h>
#include <gsc/file_kind.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <stdexcept>

#include "options/word_parser.h"
#include "pages/help.h"

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

/// Words that nobody expected.
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
  throw UsageError(fmt::format("{}: unknown section [{}]{} A section is named as the command it is for", path, section,
                               suggestion(section, names)));
}

/// What an option was called before, and its name now.
constexpr std::pair<std::string_view, std::string_view> kRenamed[] = {{"known-noise", "sigma"}};

/// The name of today; `note` is told what has changed.
std::string current_name(std::string name, std::string& note) {
  for (const auto& [before, now] : kRenamed) {
    if (name != before) continue;
    note = fmt::format("{} is now called {}", before, now);
    return std::string(now);
  }
  return name;
}

/// The same for words of the command line: --name, or --name=value.
void rename_flags(std::vector<std::string>& words, std::string& note) {
  for (std::string& word : words) {
    if (!word.starts_with("--")) continue;
    const std::size_t end = std::min(word.find('='), word.size());
    word = "--" + current_name(word.substr(2, end - 2), note) + word.substr(end);
  }
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
  const std::vector<const Option*> options = options_of(command);
  std::vector<Flag> flags;
  flags.reserve(options.size());
  for (const Option* option : options) flags.push_back({flag_names(*option), !option->is_switch(), option->several});
  rename_flags(words, note);
  ParsedWords parsed;
  try {
    parsed = parse_words(flags, std::move(words));
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("{}; see {}", error.what(), help_of(command)));
  }
  help = parsed.help;
  if (help) return;
  if (!parsed.extras.empty()) refuse(command, parsed.extras);

  for (std::size_t i = 0; i < options.size(); ++i)
    if (!parsed.values[i].empty()) values_.emplace_back(options[i], parsed.values[i]);
  const auto config =
      std::find_if(values_.begin(), values_.end(), [](const auto& v) { return v.first->name == "config"; });
  if (config != values_.end()) read_config(command, std::string(config->second.back()));
  for (const auto& [option, texts] : values_)
    if (!option->left_alone(texts)) option->set(settings, texts);
  for (const Option* option : options) {
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
    throw UsageError(fmt::format("config: {} is not a file that can be read; give a text file of options", path));
  const RecognisedFile content = recognise(std::filesystem::path(path));
  if (content.kind != FileKind::text && content.kind != FileKind::empty)
    throw UsageError(fmt::format("config: {} is {}, not a text file of options", path,
                                 content.words.empty() ? "something else" : content.words));
  std::vector<ConfigLine> lines;
  try {
    lines = parse_config(path);
  } catch (const std::runtime_error& error) {
    throw UsageError(fmt::format("config: {}: {}", path, error.what()));
  }
  std::stable_partition(lines.begin(), lines.end(), [](const ConfigLine& line) { return !line.section.empty(); });

  const std::vector<Option>& table = option_table();
  const std::vector<const Option*> options = options_of(command);
  for (const ConfigLine& line : lines) {
    if (!line.section.empty() && section_of(path, line.section) != command) continue;
    if (line.key.empty()) continue;
    std::string key = line.key;
    std::replace(key.begin(), key.end(), '_', '-');
    key = current_name(key, note);
    const auto is_named = [&](const auto& option) { return option.name == key; };
    const auto found = std::find_if(options.begin(), options.end(), [&](const Option* o) { return is_named(*o); });
    if (found == options.end() || key == "config") {
      if (line.section.empty() && key != "config" && std::any_of(table.begin(), table.end(), is_named)) continue;
      std::vector<std::string> names;
      names.reserve(options.size());
      for (const Option* option : options) names.push_back(option->name);
      throw UsageError(fmt::format("{}: unknown key '{}'{}", path, line.key, suggestion(key, names)));
    }
    if (line.values.size() != 1 && !((*found)->several && !line.values.empty()))
      throw UsageError(fmt::format("{}: '{}' has {} values; one is expected", path, line.key, line.values.size()));
    if (std::any_of(values_.begin(), values_.end(), [&](const auto& value) { return value.first->name == key; }))
      continue;
    values_.emplace_back(*found, line.values);
    try {
      if (!(*found)->left_alone(line.values)) (*found)->set(settings, line.values);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("{}: {}", path, error.what()));
    }
  }
}

bool CommandLine::given(const std::string& name) const {
  return std::any_of(values_.begin(), values_.end(), [&](const auto& value) {
    return value.first->name == name && !value.first->left_alone(value.second);
  });
}

}  // namespace gsc::cli
