#pragma once
// How readers and writers complain: "file: what is wrong; what to do".

#include <fmt/format.h>
#include <gsc/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gsc {

/// Throws Error with `where` (a file, or file:line) in front of the formatted text.
template <class... Args>
[[noreturn]] void fail(std::string_view where, fmt::format_string<Args...> format, Args&&... args) {
  throw Error(fmt::format("{}: {}", where, fmt::format(format, std::forward<Args>(args)...)));
}

/// Text out of a file, fit for a message: short, in quotes, without control characters.
inline std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, kLongest))
    result += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? std::string("?") : std::string(1, c);
  return result + (text.size() > kLongest ? "...'" : "'");
}

/// "12 x 5", "7", or "scalar".
template <class Dimensions>
std::string shape_text(const Dimensions& shape) {
  return shape.begin() == shape.end() ? "scalar" : fmt::format("{}", fmt::join(shape, " x "));
}

/// "a, b, c", or "none"; a long list is cut.
inline std::string list_text(std::vector<std::string> names) {
  constexpr std::size_t kMost = 20;
  if (names.empty()) return "none";
  const std::size_t all = names.size();
  if (all > kMost) names.resize(kMost);
  return fmt::format("{}{}", fmt::join(names, ", "), all > kMost ? fmt::format(" and {} more", all - kMost) : "");
}

}  // namespace gsc
