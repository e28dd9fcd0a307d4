#pragma once
// The order in which a report shows latents.

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

}  // namespace gsc
