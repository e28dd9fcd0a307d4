#pragma once
// The order in which learning by batches goes through the data: another one in every pass, but always the same for the
// same seed.

#include <gsc/data.h>

#include <algorithm>
#include <vector>

namespace gsc {

/// 0, 1, 2, ... with runs of neighbours shuffled. Where single rows are slow to come by they are read in such runs, of
/// which a batch has several.
inline std::vector<Index> shuffled_rows(const Data& data, Index batch, Random& random) {
  constexpr Index kRun = 256, kRunsPerBatch = 4;
  const Index run = data.random_access() ? 1 : std::clamp<Index>(batch / kRunsPerBatch, 1, kRun);
  std::vector<Index> starts;
  for (Index first = 0; first < data.rows(); first += run) starts.push_back(first);
  std::shuffle(starts.begin(), starts.end(), random);
  std::vector<Index> order;
  order.reserve(static_cast<std::size_t>(data.rows()));
  for (const Index first : starts)
    for (Index row = first; row < std::min(first + run, data.rows()); ++row) order.push_back(row);
  return order;
}

}  // namespace gsc
