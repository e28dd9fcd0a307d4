#pragma once
// Numbers that somebody types, as they are where they were stored in single precision.

#include <cmath>
#include <limits>

namespace gsc {

/// The value as tables and pictures of floats have it: -99.9 is -99.90000153 there. A whole number is itself: there is
/// no doubt what was meant.
inline double in_single_precision(double value) {
  constexpr auto kLargest = static_cast<double>(std::numeric_limits<float>::max());
  if (value == std::floor(value) || !(std::abs(value) < kLargest)) return value;
  return static_cast<double>(static_cast<float>(value));
}

}  // namespace gsc
