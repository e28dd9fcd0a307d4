#include "options/option_row.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <sstream>

#include "learning/fit_option_list.h"

namespace gsc::cli {
namespace {

/// An option of the library in the words of the program.
struct Listed {
  std::string name, value, help;
  FieldPlace field;
};

const std::vector<Listed>& fit_options() {
  static const std::vector<Listed> list = [] {
    std::vector<Listed> made;
    for_each_option(usual_settings().fit, [&](const OptionInfo& option, const auto& field) {
      const FieldPlace place = place_of(field);
      made.push_back({option.name, place.type->words.empty() ? option.value : place.type->words, option.help, place});
      std::replace(made.back().name.begin(), made.back().name.end(), '_', '-');
    });
    return made;
  }();
  return list;
}

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream stream{std::string(text)};
  return {std::istream_iterator<std::string>(stream), {}};
}

}  // namespace

const Settings& usual_settings() {
  static const Settings usual;
  return usual;
}

Rows::Rows(std::initializer_list<Row> rows) {
  options.reserve(rows.size());
  for (const Row& row : rows) {
    Option& option = options.emplace_back();
    option.name = row.name;
    option.value = row.value;
    option.commands = row.commands;
    option.group = row.group;
    option.help = row.help;
    option.fields = {row.field};
    option.letter = row.letter;
    option.positional = row.positional;
    option.several = row.field.type->several;
    option.required = row.required;
    option.if_left_out = row.if_left_out;
    option.from_model = row.from_model;
    option.extensions = words_of(row.extensions);
    for (std::string& more : words_of(row.more_extensions)) option.extensions.push_back(std::move(more));
  }
}

Row listed(std::string_view name, unsigned commands, std::string_view group) {
  const std::vector<Listed>& list = fit_options();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Listed& option) { return option.name == name; });
  assert(found != list.end());
  return {found->name, found->value, commands, group, found->help, found->field};
}

}  // namespace gsc::cli
