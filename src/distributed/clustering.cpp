#include "distributed/clustering.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "distributed/packing.h"

namespace gsc {
namespace {

/// Keys are hashes, so any of their bits choose evenly.
std::size_t home_of(std::uint64_t key, int ranks) { return (key >> 16) % static_cast<std::uint64_t>(ranks); }

/// Adds up the clusters whose home this rank is.
struct Home {
  /// parts[r]: the clusters of rank r.
  explicit Home(const std::vector<std::vector<KeyCount>>& parts) : offsets(parts.size()) {
    struct Tally {
      Index rows = 0, most = 0;
      int most_at = 0;
    };
    std::unordered_map<std::uint64_t, Tally> tallies;
    for (std::size_t r = 0; r < parts.size(); ++r)
      for (const KeyCount& part : parts[r]) {
        Tally& tally = tallies[part.key];
        offsets[r].push_back(tally.rows);
        tally.rows += part.rows;
        if (part.rows <= tally.most) continue;
        tally.most = part.rows;
        tally.most_at = static_cast<int>(r);
      }
    different = static_cast<double>(tallies.size());
    for (std::size_t r = 0; r < parts.size(); ++r)
      for (std::size_t i = 0; i < parts[r].size(); ++i) {
        const std::uint64_t key = parts[r][i].key;
        const Tally& tally = tallies[key];
        if (tally.rows < kWorthGathering)
          offsets[r][i] = -1;
        else if (offsets[r][i] == 0)
          worth_gathering.push_back({key, tally.rows, tally.most_at, tally.most});
      }
  }

  std::vector<std::vector<Index>> offsets;  ///< as MergedClusters::offsets, for the clusters of every rank
  std::vector<Cluster> worth_gathering;
  double different = 0;
};

/// Sorts by value(row): into buckets of a few rows by the leading bits, then each; faster than sorting all at once.
template <class Value>
void bucket_sort(std::vector<Row>& rows, const Value& value) {
  if (rows.size() < 2) return;
  std::uint64_t largest = 0;
  for (const Row& row : rows) largest = std::max<std::uint64_t>(largest, value(row));
  const auto bits = std::min<unsigned>(static_cast<unsigned>(std::bit_width(rows.size() / 4)) + 1, 20);
  const auto width = static_cast<unsigned>(std::bit_width(largest));
  const unsigned shift = width > bits ? width - bits : 0;
  std::vector<std::size_t> starts((largest >> shift) + 2);
  for (const Row& row : rows) ++starts[(value(row) >> shift) + 1];
  for (std::size_t b = 1; b < starts.size(); ++b) starts[b] += starts[b - 1];
  std::vector<Row> sorted(rows.size());
  std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
  for (const Row& row : rows) sorted[next[value(row) >> shift]++] = row;
  const auto before = [&](const Row& a, const Row& b) {
    return value(a) != value(b) ? value(a) < value(b) : a.handle < b.handle;
  };
  for (std::size_t b = 0; b + 1 < starts.size(); ++b)
    if (starts[b + 1] - starts[b] > 1)
      std::sort(sorted.begin() + static_cast<Index>(starts[b]), sorted.begin() + static_cast<Index>(starts[b + 1]),
                before);
  rows.swap(sorted);
}

}  // namespace

void sort_by_key(std::vector<Row>& rows) {
  bucket_sort(rows, [](const Row& row) { return row.key; });
}

std::vector<KeyCount> clusters_of(const std::vector<Row>& rows) {
  std::vector<KeyCount> clusters;
  for (const Row& row : rows) {
    if (clusters.empty() || clusters.back().key != row.key) clusters.push_back({row.key, 0});
    ++clusters.back().rows;
  }
  return clusters;
}

std::size_t clusters_first(std::vector<Row>& sorted, const std::vector<KeyCount>& clusters) {
  std::vector<Row> lone;
  std::size_t clustered = 0;
  auto row = sorted.begin();
  for (const KeyCount& cluster : clusters) {
    const auto end = row + cluster.rows;
    if (cluster.rows < kWorthGathering) {
      lone.insert(lone.end(), row, end);
    } else {
      std::copy(row, end, sorted.begin() + static_cast<Index>(clustered));
      clustered += static_cast<std::size_t>(cluster.rows);
    }
    row = end;
  }
  bucket_sort(lone, [](const Row& of) { return of.handle; });
  std::copy(lone.begin(), lone.end(), sorted.begin() + static_cast<Index>(clustered));
  return clustered;
}

MergedClusters merge(Team& team, const std::vector<KeyCount>& own, Index room) {
  const auto ranks = static_cast<std::size_t>(team.size());
  std::vector<std::vector<KeyCount>> to_homes(ranks);
  for (const KeyCount& cluster : own) to_homes[home_of(cluster.key, team.size())].push_back(cluster);
  const Home home(exchange_lists(team, to_homes));
  const std::vector<std::vector<Index>> offsets = exchange_lists(team, home.offsets);

  MergedClusters merged;
  std::vector<std::size_t> next(ranks);
  Index lone = 0;
  for (const KeyCount& cluster : own) {
    const std::size_t at = home_of(cluster.key, team.size());
    merged.offsets.push_back(offsets[at][next[at]++]);
    if (merged.offsets.back() < 0)
      lone += cluster.rows;
    else
      merged.gathered_here += static_cast<double>(cluster.rows);
  }
  const Bytes mine = (Packer() << home.worth_gathering << home.different << RankLoad{lone, room}).take();
  for (const Bytes& bytes : team.gather(mine)) {
    Unpacker unpacker(bytes);
    const auto clusters = unpacker.next<std::vector<Cluster>>();
    merged.clusters.insert(merged.clusters.end(), clusters.begin(), clusters.end());
    merged.different += unpacker.next<double>();
    merged.loads.push_back(unpacker.next<RankLoad>());
  }
  return merged;
}

std::vector<std::vector<Row>> parting(std::vector<Row>& rows, const std::vector<KeyCount>& own,
                                      const MergedClusters& merged, const Assignment& assignment, int rank) {
  std::unordered_map<std::uint64_t, std::size_t> number;  // of a key among the clusters of all
  for (std::size_t c = 0; c < merged.clusters.size(); ++c) number[merged.clusters[c].key] = c;
  std::vector<Assignment::Flow> flows;
  for (const Assignment::Flow& flow : assignment.flows)
    if (flow.from == rank) flows.push_back(flow);

  std::vector<std::vector<Row>> outgoing(merged.loads.size());
  std::vector<Row> staying;
  auto row = rows.begin();
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Index offset = merged.offsets[i];
    const std::size_t c = offset < 0 ? 0 : number.at(own[i].key);
    for (Index j = 0; j < own[i].rows; ++j, ++row) {
      int to = -1;
      if (offset >= 0) {
        to = rank_of_row(assignment.pieces[c], merged.clusters[c].rows, offset + j);
      } else if (!flows.empty()) {
        to = flows.back().to;
        if (--flows.back().rows == 0) flows.pop_back();
      }
      (to < 0 || to == rank ? staying : outgoing[static_cast<std::size_t>(to)]).push_back(*row);
    }
  }
  rows.swap(staying);
  return outgoing;
}

}  // namespace gsc
