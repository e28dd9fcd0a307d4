#pragma once
// Text of an option <-> value of its type.

#include <fmt/format.h>
#include <gsc/denoise.h>
#include <gsc/option_list.h>
#include <gsc/separate.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "options/options.h"
#include "options/shape.h"

namespace gsc {

// The words that only the program reads; all others are in <gsc/words.h> and beside their enumerations.
template <>
inline constexpr std::array kValues<PixelDepth>{PixelDepth::bits8, PixelDepth::bits16, PixelDepth::real32};
template <>
inline constexpr std::array kValues<StreamFormat>{StreamFormat::csv, StreamFormat::tsv, StreamFormat::npy};
template <>
inline constexpr std::array kValues<cli::Generator>{cli::Generator::bars, cli::Generator::laplace,
                                                    cli::Generator::cauchy};
template <>
inline constexpr std::array kValues<cli::ChannelsIn>{cli::ChannelsIn::rows, cli::ChannelsIn::columns};
template <>
inline constexpr std::array kValues<cli::Mixing>{cli::Mixing::orthogonal};

namespace cli {

/// No number in this program may be negative. Throws UsageError with the option's name.
template <class T>
T parse_value(const std::string& name, const std::string& text) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (text.empty()) throw UsageError(fmt::format("{} is empty; give a file name or leave it out", name));
    return text;
  } else if constexpr (std::is_same_v<T, bool>) {
    if (text == "true" || text == "1") return true;
    if (text == "false" || text == "0") return false;
    throw UsageError(fmt::format("{} is '{}'; it is a switch: true or false", name, text));
  } else if constexpr (std::is_enum_v<T>) {
    if (const std::optional<T> value = find_word<T>(text)) return *value;
    throw UsageError(fmt::format("{} is '{}'; choose one of {}", name, text, words<T>()));
  } else if constexpr (std::is_same_v<T, Shape>) {
    return read_shape(name, text);
  } else {
    T value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc::result_out_of_range)
      throw UsageError(fmt::format("{} is {}, which is out of range; give a number nearer to 0", name, text));
    bool good = error == std::errc() && end == text.data() + text.size() && !(value < T{});
    if constexpr (std::is_floating_point_v<T>) good = good && std::isfinite(value);
    if (!good)
      throw UsageError(fmt::format("{} is '{}'; it must be a {}number from 0 up", name, text,
                                   std::is_integral_v<T> ? "whole " : ""));
    return value;
  }
}

template <class T>
Json value_json(const T& value) {
  if constexpr (std::is_enum_v<T>)
    return std::string(to_string(value));
  else if constexpr (std::is_same_v<T, Shape>)
    return value.rows > 0 ? Json(to_string(value)) : Json();
  else
    return value;
}
template <class T>
Json value_json(const std::optional<T>& value) {
  return value ? value_json(*value) : Json();
}

}  // namespace cli
}  // namespace gsc
