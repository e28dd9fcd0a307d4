#include "options/compare_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gsc::cli {
namespace {

bool has(Command command, const std::string& name) {
  const std::vector<const Option*> options = options_of(command);
  return std::any_of(options.begin(), options.end(), [&](const Option* option) { return option->name == name; });
}

/// What the method has of them.
FitOptions options_of_method(const Settings& settings, Method method, bool picture) {
  DenoiseOptions of_picture;
  of_picture.learning = choices_for(settings.learning, method);
  return picture ? of_picture.usual() : apply(of_picture.learning, options_for(settings.fit, method));
}

}  // namespace

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
  const Settings asked = settings;
  for (const Method method : methods) {
    settings.fit = options_of_method(asked, method, picture);
    const Json all = options_json(picture ? kDenoise : kFit, settings);
    for (const auto& [key, value] : all.items()) {
      std::string name = key;
      std::replace(name.begin(), name.end(), '_', '-');
      if (has(kCompare, name)) json[key] = value;
    }
  }
  if (settings.learning.sigma || picture)
    json["sigma"] = settings.learning.sigma ? Json(*settings.learning.sigma) : Json();
  else
    json.erase("sigma");
  return json;
}

}  // namespace gsc::cli
