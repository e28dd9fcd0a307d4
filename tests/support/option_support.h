#pragma once
// Options of learning one by one, whatever their types: for tests that no option is forgotten somewhere.

#include "learning/fit_option_list.h"

#include <gsc/words.h>

namespace gsc::test {

/// Gives the field another value that is allowed.
template <class Value>
void change(Value& value) {
  if constexpr (std::is_enum_v<Value>)
    value = value == kValues<Value>.back() ? kValues<Value>.front() : kValues<Value>.back();
  else if constexpr (std::is_same_v<Value, bool>)
    value = !value;
  else if constexpr (std::is_same_v<Value, Shape>)
    value = {2, 3, 4};
  else if constexpr (std::is_same_v<Value, std::string>)
    value += " and more";
  else if constexpr (std::is_integral_v<Value>)
    value += 3;
  else
    value = value / 2 + 0.25;
}

/// The options with the one called `name` changed.
inline FitOptions changed(FitOptions options, const std::string& name) {
  for_each_option(options, [&](const OptionInfo& option, auto& value) {
    if (option.name == name) change(value);
  });
  return options;
}

inline std::vector<std::string> texts_of(const FitOptions& options) {
  std::vector<std::string> texts;
  for_each_option(options, [&]<class Value>(const OptionInfo& option, const Value& value) {
    std::string& text = texts.emplace_back(std::string(option.name) + " ");
    if constexpr (std::is_enum_v<Value>)
      text += to_string(value);
    else if constexpr (std::is_same_v<Value, std::string>)
      text += value;
    else if constexpr (std::is_same_v<Value, Shape>)
      for (const Index extent : {value.rows, value.cols, value.channels}) text += std::to_string(extent) + " ";
    else
      text += std::to_string(value);
  });
  return texts;
}

}  // namespace gsc::test
