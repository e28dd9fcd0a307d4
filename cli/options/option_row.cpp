#include "options/option_row.h"

#include <gsc/option_list.h>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <sstream>

#include "options/flags.h"

namespace gsc::cli {
namespace {

/// The options of the library in the words of the program.
const std::vector<OptionDescription>& fit_options() {
  static const std::vector<OptionDescription> list = [] {
    std::vector<OptionDescription> made = fit_option_list();
    for (OptionDescription& option : made) {
      if (option.kind == OptionKind::word) option.value = fmt::format("{}", fmt::join(option.words, "|"));
      option.help = with_flags(option.help);
      std::replace(option.name.begin(), option.name.end(), '_', '-');
    }
    return made;
  }();
  return list;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

Rows::Rows(std::initializer_list<Row> rows) {
  options.reserve(rows.size());
  for (const Row& row : rows) {
    Option& option = options.emplace_back();
    option.name = row.name;
    option.value = row.value;
    option.commands = row.commands;
    option.group = row.group;
    option.help = row.help;
    option.field = row.field;
    option.of_learning = row.of_learning;
    option.letter = row.letter;
    option.positional = row.positional;
    option.several = !row.of_learning && row.field.type->several;
    option.required = row.required;
    option.if_left_out = row.if_left_out;
    option.from_model = row.from_model;
    option.from_picture = row.from_picture;
    option.extensions = words_of(row.extensions);
    for (std::string& more : words_of(row.more_extensions)) option.extensions.push_back(std::move(more));
  }
}

Row row(std::string_view name, std::string_view value, unsigned commands, std::string_view group, std::string_view help,
        const FieldPlace& field) {
  return {name, field.type->words.empty() ? value : field.type->words, commands, group, help, field};
}

Row listed(std::string_view name, unsigned commands, std::string_view group) {
  const std::vector<OptionDescription>& list = fit_options();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const OptionDescription& option) { return option.name == name; });
  assert(found != list.end());
  return {found->name, found->value, commands, group, found->help, {}, true};
}

}  // namespace gsc::cli
