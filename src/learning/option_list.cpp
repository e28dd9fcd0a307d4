#include <gsc/option_list.h>

#include "learning/fit_option_list.h"
#include "learning/words.h"

namespace gsc {
namespace {

using Shape = FactoredOptions::Shape;

template <class Value>
constexpr OptionKind kind_of() {
  if constexpr (std::is_enum_v<Value>) return OptionKind::word;
  if constexpr (std::is_same_v<Value, bool>) return OptionKind::boolean;
  if constexpr (std::is_same_v<Value, Shape>) return OptionKind::shape;
  if constexpr (std::is_same_v<Value, std::string>) return OptionKind::text;
  return std::is_integral_v<Value> ? OptionKind::integer : OptionKind::real;
}

template <class Value>
std::string text_of(const Value& value) {
  if constexpr (std::is_enum_v<Value>)
    return std::string(to_string(value));
  else if constexpr (std::is_same_v<Value, std::string>)
    return value;
  else if constexpr (std::is_same_v<Value, bool>)
    return value ? "true" : "false";
  else if constexpr (std::is_same_v<Value, Shape>)
    return std::to_string(value.rows) + "x" + std::to_string(value.cols) + "x" + std::to_string(value.channels);
  else if constexpr (std::is_integral_v<Value>)
    return std::to_string(value);
  else
    return number_text(value);
}

}  // namespace

std::vector<OptionDescription> fit_option_list() {
  std::vector<OptionDescription> list;
  const FitOptions usual;
  for_each_option(usual, [&]<class Value>(const OptionInfo& option, const Value& value) {
    OptionDescription& described = list.emplace_back();
    described.name = option.name;
    described.kind = kind_of<Value>();
    if constexpr (std::is_enum_v<Value>)
      for (const Value word : kValues<Value>) described.words.emplace_back(to_string(word));
    described.usual = text_of(value);
    described.smallest = option.smallest;
    described.largest = option.largest;
    described.help = option.help;
  });
  return list;
}

}  // namespace gsc
