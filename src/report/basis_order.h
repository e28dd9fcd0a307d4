#pragma once
// The order in which a report shows latents, and the scale of its own to which each basis function is drawn.

#include <gsc/types.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace gsc {

/// Places of `pi` from the most to the least often used latent; NaN, which a damaged model may hold, comes last.
inline std::vector<Index> order_by_use(const Vector& pi) {
  std::vector<Index> order(static_cast<std::size_t>(pi.size()));
  std::iota(order.begin(), order.end(), Index{0});
  const auto use = [&](Index h) { return std::isnan(pi[h]) ? -1 : pi[h]; };
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) { return use(a) > use(b); });
  return order;
}

/// Largest absolute value that is a number, or 1 for a column of zeros.
inline double scale_of(const Vector& column) {
  double largest = 0;
  for (const double value : column)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest > 0 ? largest : 1;
}

inline double scaled(double value, double scale) { return std::isfinite(value) ? value / scale : 0; }

}  // namespace gsc
