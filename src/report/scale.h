#pragma once
// Basis functions are drawn each to a scale of its own.

#include <gsc/types.h>

#include <algorithm>
#include <cmath>

namespace gsc {

/// Largest absolute value that is a number, or 1 for a column of zeros.
inline double scale_of(const Vector& column) {
  double largest = 0;
  for (const double value : column)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest > 0 ? largest : 1;
}

inline double scaled(double value, double scale) { return std::isfinite(value) ? value / scale : 0; }

}  // namespace gsc
