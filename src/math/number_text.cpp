#include "math/number_text.h"

#include <array>
#include <charconv>

namespace gsc {

std::string number_text(double value) {
  std::array<char, 32> text;  // the longest shortest double takes 24
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value);
  return {text.data(), result.ptr};
}

std::string number_text(double value, int digits) {
  std::array<char, 32> text;
  const auto result = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, digits);
  return {text.data(), result.ptr};
}

}  // namespace gsc
