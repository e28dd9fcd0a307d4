#pragma once
// The words of enumerations, both ways: to_string(Method::truncated) and parse<Method>("truncated"). to_string() has each
// word once; here is the list of the values. Those of denoising and separation stand beside them (gsc/denoise.h).

#include <gsc/fit.h>
#include <gsc/generate.h>
#include <gsc/types.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace gsc {

/// As the rows of src/methods/methods.cpp say.
struct AllMethods {
  static constexpr bool empty() { return false; }
  static auto begin() { return all_methods().begin(); }
  static auto end() { return all_methods().end(); }
  static Method front() { return all_methods().front(); }
  static Method back() { return all_methods().back(); }
};

/// All values of an enumeration, in the order in which lists of its words have them.
template <class Enum>
inline constexpr std::array<Enum, 0> kValues{};
template <>
inline constexpr AllMethods kValues<Method>{};
template <>
inline constexpr std::array kValues<Selection>{Selection::singleton, Selection::conditional};
template <>
inline constexpr std::array kValues<Precision>{Precision::double_precision, Precision::single_precision};
template <>
inline constexpr std::array kValues<Missing>{Missing::error, Missing::nan};
template <>
inline constexpr std::array kValues<NoiseType>{NoiseType::scalar, NoiseType::diagonal, NoiseType::full};
template <>
inline constexpr std::array kValues<SlabType>{SlabType::diagonal, SlabType::full};
template <>
inline constexpr std::array kValues<Init>{Init::random, Init::data};
template <>
inline constexpr std::array kValues<Intercept>{Intercept::learned, Intercept::mean, Intercept::none};
template <>
inline constexpr std::array kValues<Coefficients>{Coefficients::laplace, Coefficients::cauchy};
template <>
inline constexpr std::array kValues<Update>{Update::exact, Update::paper};
template <>
inline constexpr std::array kValues<BasisPrior>{BasisPrior::none, BasisPrior::identity, BasisPrior::gp};
template <>
inline constexpr std::array kValues<SweepOrder>{SweepOrder::random, SweepOrder::fixed};
template <>
inline constexpr std::array kValues<Coding>{Coding::lasso, Coding::bounded, Coding::omp};
template <>
inline constexpr std::array kValues<UsagePrior>{UsagePrior::program, UsagePrior::paper};
template <>
inline constexpr std::array kValues<AtomUpdate>{AtomUpdate::exact, AtomUpdate::approximate};
template <>
inline constexpr std::array kValues<Partition>{Partition::uniform, Partition::local, Partition::global};

/// "truncated, exact, factored"
template <class Enum>
std::string words(std::string_view separator = ", ") {
  static_assert(!kValues<Enum>.empty(), "an enumeration without a list of its values");
  std::string text;
  for (const Enum value : kValues<Enum>) text.append(text.empty() ? "" : separator).append(to_string(value));
  return text;
}

/// The value that to_string() calls `word`, if there is one.
template <class Enum>
std::optional<Enum> find_word(std::string_view word) {
  static_assert(!kValues<Enum>.empty(), "an enumeration without a list of its values");
  for (const Enum value : kValues<Enum>)
    if (to_string(value) == word) return value;
  return {};
}

/// The same; where there is none it throws an Error that says what of `what` is expected.
template <class Enum>
Enum parse(std::string_view word, std::string_view what = "the word") {
  if (const std::optional<Enum> value = find_word<Enum>(word)) return *value;
  throw Error(std::string(what) + " is '" + std::string(word) + "'; expected one of: " + words<Enum>());
}

/// "3 channels", "1 channel".
inline std::string counted(Index number, std::string_view what) {
  return std::to_string(number).append(" ").append(what).append(number == 1 ? "" : "s");
}

}  // namespace gsc
