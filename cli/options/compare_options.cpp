#include "options/compare_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gsc::cli {
namespace {

constexpr const char* kInBoth[] = {"latents",     "init",       "candidates",  "max-active",   "selection",
                                   "precision",   "iterations", "basis-prior", "length-scale", "shared-prior",
                                   "sweep-order", "coding",     "lambda",      "error-gain",   "atoms-per-point",
                                   "atom-update", "decay",      "draws",       "usage-prior",  "chains",
                                   "burn-in",     "sigma"};

template <class Table>
auto find_row(Table& table, Command command, const std::string& name) {
  return std::find_if(table.begin(), table.end(),
                      [&](const Option& option) { return (option.commands & command) && option.name == name; });
}

bool has(Command command, const std::string& name) {
  return find_row(option_table(), command, name) != option_table().end();
}

Option joined(const Option& data, const Option& picture) {
  Option row = picture;  // --init of fit takes more than that of denoise
  row.commands = kCompare;
  if (data.value == picture.value) row.help = data.help;
  const std::string usual = data.default_text(kFit), of_pictures = picture.default_text(kDenoise);
  row.if_left_out = usual == of_pictures ? usual : fmt::format("{}; pictures: {}", usual, of_pictures);
  row.fields.push_back(data.fields.front());
  return row;
}

}  // namespace

std::vector<Option> with_compare_rows(std::vector<Option> table) {
  for (const char* name : kInBoth) {
    const auto picture = find_row(table, kDenoise, name);
    table.insert(picture + 1, joined(*find_row(table, kFit, name), *picture));
  }
  Option& sigma = *find_row(table, kCompare, "sigma");
  sigma.help = "standard deviation of the noise, for methods that must be told it; the others learn it";
  sigma.if_left_out = "estimated; pictures: measured";
  return table;
}

void check_kind(const CommandLine& line, bool picture) {
  const std::string& input = line.settings.compare.input;
  for (const Option* option : options_of(kCompare)) {
    const std::string& name = option->name;
    if (!line.given(name)) continue;
    const bool of_data = has(kFit, name) || name == "truth", of_picture = has(kDenoise, name);
    if (picture && of_data && !of_picture)
      throw UsageError(fmt::format("{} is for tables of numbers, but {} is a picture; leave it out", name, input));
    if (!picture && of_picture && !of_data)
      throw UsageError(fmt::format("{} is for pictures, but {} is none by its extension; leave it out", name, input));
  }
}

Json compare_options_json(Settings settings, const std::vector<Method>& methods, bool picture) {
  Json json = Json::object();
  for (const Method method : methods) {
    settings.fit.inference.method = settings.denoise.options.method = method;
    const Json all = options_json(picture ? kDenoise : kFit, settings);
    if (!picture && settings.fit.known_noise > 0) json["sigma"] = settings.fit.known_noise;  // fit: known_noise
    for (const auto& [key, value] : all.items()) {
      std::string name = key;
      std::replace(name.begin(), name.end(), '_', '-');
      if (has(kCompare, name)) json[key] = value;
    }
  }
  return json;
}

}  // namespace gsc::cli
