#pragma once
// Data points of a block that have the same candidates.

#include "truncated/tree/tree_kernel.h"

namespace gsc {

/// A cluster of so many vectors of data points is worth building a shared tree for (measured: bench/).
inline constexpr std::size_t kSharedWorth = 6;

/// A hash of a data point's candidates, whatever their order.
std::uint64_t candidates_key(const PreparedModel& model, const Workspace& workspace, std::uint32_t point);

/// Sorts workspace.order so that data points with equal candidate sets are neighbours.
void sort_by_candidates(const PreparedModel& model, Index count, Workspace& workspace);

/// Whether order[first .. end) really have equal candidate sets; their keys do.
bool same_candidates(const PreparedModel& model, const Workspace& workspace, std::size_t first, std::size_t end);

}  // namespace gsc
