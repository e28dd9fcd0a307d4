#pragma once
// Finding the rows that have the same candidates, in a rank and over all of them.

#include "distributed/node_rows.h"
#include "distributed/repartition.h"

namespace gsc {

struct KeyCount {
  std::uint64_t key;
  Index rows;
};

void sort_by_key(std::vector<Row>& rows);

/// The keys of sorted rows, and how many rows have each.
std::vector<KeyCount> clusters_of(const std::vector<Row>& rows);

/// Puts rows of clusters worth gathering, which are sorted by key, before the others, which become sorted by handle.
/// Returns how many they are.
std::size_t clusters_first(std::vector<Row>& sorted, const std::vector<KeyCount>& clusters);

/// What every rank knows after merging.
struct MergedClusters {
  std::vector<Cluster> clusters;  ///< those worth gathering, over all ranks
  std::vector<RankLoad> loads;
  std::vector<Index> offsets;  ///< per own cluster: where its rows stand among those of all ranks; -1: not gathered
  double different = 0;        ///< clusters over all ranks, small ones included
  double gathered_here = 0;    ///< rows of this rank that are in `clusters`
};

/// Collective. A rank chosen by the key adds up a cluster's rows, so no rank sees all small clusters.
MergedClusters merge(Team& team, const std::vector<KeyCount>& own, Index room);

/// Takes the rows that go to other ranks out of this rank's list, by rank. The list is sorted and `own` its clusters.
std::vector<std::vector<Row>> parting(std::vector<Row>& rows, const std::vector<KeyCount>& own,
                                      const MergedClusters& merged, const Assignment& assignment, int rank);

}  // namespace gsc
