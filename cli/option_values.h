#pragma once
// Text of an option <-> value of its type.

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "options.h"
#include "shape.h"

namespace gsc::cli {

/// The words of an enumeration, in the order in which help lists them.
template <class E>
inline constexpr std::array<E, 0> kWords{};
template <>
inline constexpr std::array kWords<Method>{Method::truncated, Method::exact, Method::factored};
template <>
inline constexpr std::array kWords<Selection>{Selection::singleton, Selection::conditional};
template <>
inline constexpr std::array kWords<Precision>{Precision::double_precision, Precision::single_precision};
template <>
inline constexpr std::array kWords<NoiseType>{NoiseType::scalar, NoiseType::diagonal, NoiseType::full};
template <>
inline constexpr std::array kWords<SlabType>{SlabType::diagonal, SlabType::full};
template <>
inline constexpr std::array kWords<Update>{Update::exact, Update::paper};
template <>
inline constexpr std::array kWords<BasisPrior>{BasisPrior::none, BasisPrior::identity, BasisPrior::gp};
template <>
inline constexpr std::array kWords<SweepOrder>{SweepOrder::random, SweepOrder::fixed};
template <>
inline constexpr std::array kWords<Partition>{Partition::uniform, Partition::local, Partition::global};
template <>
inline constexpr std::array kWords<Quality>{Quality::fast, Quality::standard, Quality::best};
template <>
inline constexpr std::array kWords<PatchMean>{PatchMean::remove, PatchMean::keep};
template <>
inline constexpr std::array kWords<PatchWeights>{PatchWeights::equal, PatchWeights::certainty};
template <>
inline constexpr std::array kWords<Init>{Init::random, Init::data};
template <>
inline constexpr std::array kWords<PixelDepth>{PixelDepth::bits8, PixelDepth::bits16, PixelDepth::real32};
template <>
inline constexpr std::array kWords<StreamFormat>{StreamFormat::csv, StreamFormat::tsv, StreamFormat::npy};
template <>
inline constexpr std::array kWords<Generator>{Generator::bars, Generator::laplace, Generator::cauchy};
template <>
inline constexpr std::array kWords<ChannelsIn>{ChannelsIn::rows, ChannelsIn::columns};

template <class E>
std::string joined_words(std::string_view separator) {
  std::vector<std::string_view> words;
  words.reserve(kWords<E>.size());
  for (const E word : kWords<E>) words.push_back(to_string(word));
  return fmt::format("{}", fmt::join(words, separator));
}

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
    for (const T word : kWords<T>)
      if (to_string(word) == text) return word;
    throw UsageError(fmt::format("{} is '{}'; choose one of {}", name, text, joined_words<T>(", ")));
  } else if constexpr (std::is_same_v<T, Shape>) {
    return parse_shape(name, text);
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

}  // namespace gsc::cli
