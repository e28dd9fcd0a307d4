#pragma once
// The value of an option as text, and the other way, whatever its type; and how an option is described.

#include <gsc/option_list.h>
#include <gsc/words.h>

#include <charconv>
#include <cmath>

#include "inference/inference_option_list.h"

namespace gsc {

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

[[noreturn]] inline void refuse_text(std::string_view name, std::string_view text, const std::string& expected) {
  throw UsageError(std::string(name) + " is '" + std::string(text) + "'; " + expected);
}

/// A whole text as a number: false where it is none.
template <class Number>
bool read_number(std::string_view name, std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end != text.data() + text.size() || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range)
    refuse_text(name, text, "which is out of range; give a number nearer to 0");
  return true;
}

template <class Value>
void read_value(std::string_view name, const std::string& text, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    const std::optional<Value> found = find_word<Value>(text);
    if (!found) refuse_text(name, text, "choose one of " + words<Value>());
    value = *found;
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = text;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (text != "true" && text != "false") refuse_text(name, text, "it must be true or false");
    value = text == "true";
  } else if constexpr (std::is_same_v<Value, Shape>) {
    value = text == text_of(Shape()) ? Shape() : read_shape(name, text);
  } else {
    Value number{};
    bool good = read_number(name, text, number);
    if constexpr (std::is_floating_point_v<Value>) good = good && std::isfinite(number);
    if (!good) refuse_text(name, text, std::is_integral_v<Value> ? "it must be a whole number" : "it must be a number");
    value = number;
  }
}

template <class Value>
void read_value(std::string_view name, const std::string& text, std::optional<Value>& value) {
  read_value(name, text, value.emplace());
}

/// The option as programs offer it; `usual` is the value where it is left out.
template <class Value>
OptionDescription description_of(const OptionInfo& option, const Value& usual) {
  OptionDescription described;
  described.name = option.name;
  described.kind = kind_of<Value>();
  if constexpr (std::is_enum_v<Value>)
    for (const Value word : kValues<Value>) described.words.emplace_back(to_string(word));
  described.usual = text_of(usual);
  described.smallest = option.smallest;
  described.largest = option.largest;
  described.help = option.help;
  described.value = option.value;
  if (option.on_resume != OnResume::forget) described.attribute = option.in_files();
  if (option.methods != kAllMethods)
    for (const Method method : kValues<Method>)
      if (option.read_by(method)) described.methods.push_back(method);
  return described;
}

}  // namespace gsc
