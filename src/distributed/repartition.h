#pragma once
// Who works on which cluster of data points (appendix C of the paper). Pure arithmetic: every rank computes the same.

#include <gsc/types.h>

#include <cstdint>
#include <vector>

namespace gsc {

/// Rows with the same candidates, over all ranks.
struct Cluster {
  std::uint64_t key;
  Index rows;
  int most_at;     ///< the rank that has most of them ...
  Index most = 0;  ///< ... namely so many
};

struct RankLoad {
  Index lone_rows;  ///< in clusters too small to share a tree; they stay unless the load must be balanced
  Index room;       ///< rows it can take in; negative: any number
};

/// So many rows make a cluster worth sharing a tree, and hence worth bringing together.
inline constexpr Index kWorthGathering = 48;

/// What a row costs in a shared tree, if alone it costs one (bench/: 1.65 against 2.74 ns a state).
inline constexpr double kSharedCost = 0.6;

struct Assignment {
  /// Per cluster, the rank of each of its pieces, which are of equal size; -1: its rows stay where they are.
  std::vector<std::vector<int>> pieces;
  /// So many lone rows go from one rank to another.
  struct Flow {
    int from, to;
    Index rows;
  };
  std::vector<Flow> flows;
  std::vector<double> loads;  ///< predicted cost of each rank
};

/// The rank of row `position` (0 .. rows-1) of a cluster.
inline int rank_of_row(const std::vector<int>& pieces, Index rows, Index position) {
  return pieces[static_cast<std::size_t>(position * static_cast<Index>(pieces.size()) / rows)];
}

/// Clusters above the top `alpha` percent of their sizes, or a rank's share of all, are cut into equal pieces no larger
/// than that. Pieces go to the rank that has most of the cluster if its load allows it, else to the one with the least
/// load.
Assignment assign(const std::vector<Cluster>& clusters, const std::vector<RankLoad>& ranks, double alpha);

}  // namespace gsc
