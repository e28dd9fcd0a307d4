#include "distributed/repartition.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace gsc {
namespace {

/// Ranks may differ by so much before rows are moved for the sake of balance.
constexpr double kTolerance = 1.05;

/// The size that only the largest `alpha` percent of the clusters exceed; not more than a rank's share of all.
Index largest_piece(const std::vector<Cluster>& clusters, Index ranks, double alpha) {
  std::vector<Index> sizes;
  sizes.reserve(clusters.size());
  for (const Cluster& cluster : clusters) sizes.push_back(cluster.rows);
  const Index share = (std::accumulate(sizes.begin(), sizes.end(), Index{0}) + ranks - 1) / ranks;
  const auto above = static_cast<Index>(std::floor(alpha / 100 * static_cast<double>(sizes.size())));
  const auto at = sizes.end() - 1 - std::min<Index>(above, static_cast<Index>(sizes.size()) - 1);
  std::nth_element(sizes.begin(), at, sizes.end());
  return std::max(std::min(*at, share), kWorthGathering);
}

class Balance {
 public:
  explicit Balance(const std::vector<RankLoad>& ranks) : ranks_(ranks), loads_(ranks.size()) {
    std::transform(ranks.begin(), ranks.end(), loads_.begin(), [](const RankLoad& r) { return double(r.lone_rows); });
  }
  void set_target(double total) { target_ = kTolerance * total / static_cast<double>(loads_.size()); }

  bool takes(int rank, Index rows, double cost) const { return fits(rank, rows) && load(rank) + cost <= target_; }
  /// The rank with the least load that has room, or -1.
  int least_loaded(Index rows) const {
    int best = -1;
    for (int r = 0; r < static_cast<int>(loads_.size()); ++r)
      if (fits(r, rows) && (best < 0 || load(r) < load(best))) best = r;
    return best;
  }
  void give(int rank, Index rows, double cost) {
    loads_[static_cast<std::size_t>(rank)] += cost;
    use_room(rank, rows);
  }

  /// Lone rows go from ranks above the target to those below the mean.
  std::vector<Assignment::Flow> level() {
    std::vector<Assignment::Flow> flows;
    const double mean = target_ / kTolerance;
    for (int from = 0; from < static_cast<int>(loads_.size()); ++from) {
      if (load(from) <= target_) continue;
      for (int to = 0; to < static_cast<int>(loads_.size()) && load(from) > mean; ++to) {
        Index rows = static_cast<Index>(std::min(load(from) - mean, mean - load(to)));
        rows = std::min(rows, ranks_[static_cast<std::size_t>(from)].lone_rows);
        if (const Index room = ranks_[static_cast<std::size_t>(to)].room; room >= 0) rows = std::min(rows, room);
        if (rows <= 0) continue;
        flows.push_back({from, to, rows});
        ranks_[static_cast<std::size_t>(from)].lone_rows -= rows;
        loads_[static_cast<std::size_t>(from)] -= static_cast<double>(rows);
        loads_[static_cast<std::size_t>(to)] += static_cast<double>(rows);
        use_room(to, rows);
      }
    }
    return flows;
  }
  std::vector<double> loads() const { return loads_; }

 private:
  double load(int rank) const { return loads_[static_cast<std::size_t>(rank)]; }
  bool fits(int rank, Index rows) const {
    const Index room = ranks_[static_cast<std::size_t>(rank)].room;
    return room < 0 || rows <= room;
  }
  void use_room(int rank, Index rows) {
    if (Index& room = ranks_[static_cast<std::size_t>(rank)].room; room >= 0) room -= rows;
  }

  std::vector<RankLoad> ranks_;
  std::vector<double> loads_;
  double target_ = 0;
};

}  // namespace

Assignment assign(const std::vector<Cluster>& clusters, const std::vector<RankLoad>& ranks, double alpha) {
  Assignment result;
  Balance balance(ranks);
  double total = 0;
  for (const RankLoad& rank : ranks) total += static_cast<double>(rank.lone_rows);
  for (const Cluster& cluster : clusters) total += kSharedCost * static_cast<double>(cluster.rows);
  balance.set_target(total);

  result.pieces.resize(clusters.size());
  const Index largest = clusters.empty() ? 1 : largest_piece(clusters, static_cast<Index>(ranks.size()), alpha);
  std::vector<std::size_t> by_size(clusters.size());
  std::iota(by_size.begin(), by_size.end(), std::size_t{0});
  std::stable_sort(by_size.begin(), by_size.end(),
                   [&](std::size_t a, std::size_t b) { return clusters[a].rows > clusters[b].rows; });
  for (const std::size_t c : by_size) {
    const Cluster& cluster = clusters[c];
    const Index pieces = (cluster.rows + largest - 1) / largest, rows = (cluster.rows + pieces - 1) / pieces;
    const double cost = kSharedCost * static_cast<double>(cluster.rows) / static_cast<double>(pieces);
    for (Index p = 0; p < pieces; ++p) {
      // What is there needs no room; of a cluster in pieces it is not known which piece that would be.
      const Index coming = pieces == 1 ? rows - cluster.most : rows;
      const bool stays = balance.takes(cluster.most_at, coming, cost);
      const int rank = stays ? cluster.most_at : balance.least_loaded(rows);
      result.pieces[c].push_back(rank);
      if (rank >= 0) balance.give(rank, rank == cluster.most_at ? coming : rows, cost);
    }
  }
  result.flows = balance.level();
  result.loads = balance.loads();
  return result;
}

}  // namespace gsc
