#include <gsc/option_list.h>

#include <gsc/words.h>

#include <charconv>
#include <cmath>

#include "learning/fit_option_list.h"

namespace gsc {
namespace {

using Shape = FactoredOptions::Shape;

template <class Value>
constexpr OptionKind kind_of() {
  if constexpr (std::is_enum_v<Value>) return OptionKind::word;
  if constexpr (std::is_same_v<Value, bool>) return OptionKind::boolean;
  if constexpr (std::is_same_v<Value, Shape>) return OptionKind::shape;
  if constexpr (std::is_convertible_v<Value, std::string>) return OptionKind::text;
  return std::is_integral_v<Value> ? OptionKind::integer : OptionKind::real;
}

template <class Value>
std::string text_of(const Value& value) {
  if constexpr (std::is_enum_v<Value>)
    return std::string(to_string(value));
  else if constexpr (std::is_convertible_v<Value, std::string>)
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

[[noreturn]] void refuse(std::string_view name, const std::string& text, const std::string& expected) {
  throw UsageError(std::string(name) + " is '" + text + "'; " + expected);
}

/// A whole text as a number; false where it is none, or one that is out of range.
template <class Number>
bool read_number(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// ROWSxCOLS or ROWSxCOLSxCHANNELS.
bool read_shape(std::string_view text, Shape& shape) {
  const std::size_t first = text.find('x');
  if (first == std::string_view::npos) return false;
  const std::size_t second = text.find('x', first + 1);
  const bool has_channels = second != std::string_view::npos;
  return read_number(text.substr(0, first), shape.rows) &&
         read_number(text.substr(first + 1, has_channels ? second - first - 1 : second), shape.cols) &&
         (!has_channels || read_number(text.substr(second + 1), shape.channels));
}

template <class Value>
void read_value(std::string_view name, const std::string& text, Value& value) {
  if constexpr (std::is_enum_v<Value>) {
    const std::optional<Value> found = find_word<Value>(text);
    if (!found) refuse(name, text, "choose one of " + words<Value>());
    value = *found;
  } else if constexpr (std::is_convertible_v<Value, std::string>) {
    value = text;
  } else if constexpr (std::is_same_v<Value, bool>) {
    if (text != "true" && text != "false") refuse(name, text, "it must be true or false");
    value = text == "true";
  } else if constexpr (std::is_same_v<Value, Shape>) {
    Shape shape;
    if (!read_shape(text, shape)) refuse(name, text, "it must be a shape as 8x8 or 8x8x3");
    value = shape;
  } else {
    Value number{};
    bool good = read_number(text, number);
    if constexpr (std::is_floating_point_v<Value>) good = good && std::isfinite(number);
    if (!good) refuse(name, text, std::is_integral_v<Value> ? "it must be a whole number" : "it must be a number");
    value = number;
  }
}

/// Calls found(field) for the option of this name.
template <class Options, class Found>
void find_option(Options& options, std::string_view name, const Found& found) {
  std::string names;
  bool there = false;
  for_each_option(options, [&](const OptionInfo& option, auto& value) {
    names += std::string(names.empty() ? "" : ", ") + option.name;
    if (option.name != name) return;
    there = true;
    found(value);
  });
  if (!there) throw UsageError("there is no option '" + std::string(name) + "'; the options are " + names);
}

}  // namespace

std::string methods_text(MethodSet methods) {
  std::string text;
  for (const Method method : kValues<Method>)
    if (methods & set_of(method)) text += (text.empty() ? "" : ", ") + std::string(to_string(method));
  return text;
}

std::string option_text(const FitOptions& options, std::string_view name) {
  std::string text;
  find_option(options, name, [&](const auto& value) { text = text_of(value); });
  return text;
}

void set_option(FitOptions& options, std::string_view name, const std::string& text) {
  find_option(options, name, [&](auto& value) { read_value(name, text, value); });
}

FitOptions options_for(FitOptions options, Method method) {
  const FitOptions usual;
  options.inference.method = method;
  for_each_option(options, [&](const OptionInfo& option, auto& value) {
    if (option.read_by(method)) return;
    find_option(usual, option.name, [&]<class Usual>(const Usual& its) {
      if constexpr (std::is_same_v<Usual, std::decay_t<decltype(value)>>) value = its;
    });
  });
  if (method == Method::online) {
    CodingOptions& coding = options.inference.coding;
    if (coding.coding == Coding::lasso) {
      coding.error_gain = usual.inference.coding.error_gain;
      coding.atoms_per_point = usual.inference.coding.atoms_per_point;
    } else {
      coding.lambda = usual.inference.coding.lambda;
    }
  }
  return options;
}

void refuse_options_of_others(const FitOptions& options) {
  const Method method = options.inference.method;
  for_each_option(options, [&]<class Value>(const OptionInfo& option, const Value& value) {
    if constexpr (!std::is_same_v<Value, Shape>) {  // which also says how a page draws basis functions
      if (option.read_by(method) || text_of(value) == option_text({}, option.name)) return;
      throw UsageError(std::string(option.name) + " is " + text_of(value) + ", but method is " +
                       std::string(to_string(method)) + "; " + option.name + " is for " + methods_text(option.methods));
    }
  });
}

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
    described.in_files = option.on_resume != OnResume::forget;
    if (option.methods != kAllMethods)
      for (const Method method : kValues<Method>)
        if (option.read_by(method)) described.methods.push_back(method);
  });
  return list;
}

}  // namespace gsc
