#include "json_lines.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gsc::experiments {
namespace {

using Json = nlohmann::ordered_json;

bool is_list_of_objects(const Json& json) {
  return json.is_array() && std::any_of(json.begin(), json.end(), [](const Json& one) { return one.is_object(); });
}

bool takes_lines(const Json& json) {
  return is_list_of_objects(json) || (json.is_object() && std::any_of(json.begin(), json.end(), takes_lines));
}

void append(std::string& text, const Json& json, std::size_t depth) {
  if (!takes_lines(json)) {
    text += json.dump();
    return;
  }
  const bool list = json.is_array();
  const char* separator = "\n";
  text += list ? '[' : '{';
  for (const auto& item : json.items()) {
    text += separator + std::string(depth + 1, ' ');
    if (list)
      text += item.value().dump();
    else
      append(text += Json(item.key()).dump() + ": ", item.value(), depth + 1);
    separator = ",\n";
  }
  text += '\n' + std::string(depth, ' ') + (list ? ']' : '}');
}

}  // namespace

std::string lines_of(const Json& json) {
  std::string text;
  append(text, json, 0);
  return text + '\n';
}

}  // namespace gsc::experiments
