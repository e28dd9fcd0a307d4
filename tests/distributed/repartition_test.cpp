// Who works on which cluster: pieces, loads and room, and that clusters come together without a row lost or doubled.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "distributed/clustering.h"
#include "distributed/packing.h"
#include "distributed/thread_team.h"

namespace gsc::test {
namespace {

Index draw(Index low, Index high, Random& random) { return std::uniform_int_distribution<Index>(low, high)(random); }

struct Situation {
  std::vector<Cluster> clusters;
  std::vector<RankLoad> ranks;
};

/// room < 0: any number.
Situation random_situation(Index clusters, int ranks, Index most_lone, Index room, Random& random) {
  Situation situation;
  for (Index c = 0; c < clusters; ++c) {
    const auto rows = static_cast<Index>(48 * std::exp(std::exponential_distribution<double>(1.5)(random)));
    situation.clusters.push_back({random(), rows, static_cast<int>(draw(0, ranks - 1, random))});
  }
  for (int r = 0; r < ranks; ++r)
    situation.ranks.push_back({draw(0, most_lone, random), room < 0 ? -1 : draw(0, room, random)});
  return situation;
}

/// What of an assignment must hold whatever the numbers.
void expect_sound(const Situation& at, double alpha, const Assignment& got) {
  // The cap: the size that only the largest alpha percent exceed, or a rank's share of all, but not so small that a
  // piece cannot share a tree.
  std::vector<Index> sizes;
  for (const Cluster& cluster : at.clusters) sizes.push_back(cluster.rows);
  std::sort(sizes.rbegin(), sizes.rend());
  const auto above = static_cast<std::size_t>(alpha / 100 * static_cast<double>(sizes.size()));
  const auto ranks = static_cast<Index>(at.ranks.size());
  const Index share = (std::accumulate(sizes.begin(), sizes.end(), Index{0}) + ranks - 1) / ranks;
  const Index cap =
      sizes.empty() ? 0 : std::max(kWorthGathering, std::min(share, sizes[std::min(above, sizes.size() - 1)]));
  std::vector<double> loads;
  std::vector<Index> arriving(at.ranks.size()), leaving(at.ranks.size());
  for (const RankLoad& rank : at.ranks) loads.push_back(static_cast<double>(rank.lone_rows));
  ASSERT_EQ(got.pieces.size(), at.clusters.size());
  for (std::size_t c = 0; c < got.pieces.size(); ++c) {
    const auto pieces = static_cast<Index>(got.pieces[c].size());
    EXPECT_EQ(pieces, (at.clusters[c].rows + cap - 1) / cap) << at.clusters[c].rows << " rows, at most " << cap;
    for (const int rank : got.pieces[c]) {
      ASSERT_GE(rank, -1);
      ASSERT_LT(rank, static_cast<int>(at.ranks.size()));
    }
    for (Index row = 0; row < at.clusters[c].rows; ++row) {
      const int rank = rank_of_row(got.pieces[c], at.clusters[c].rows, row);
      if (rank < 0) continue;
      ++arriving[static_cast<std::size_t>(rank)];
      loads[static_cast<std::size_t>(rank)] += kSharedCost;
    }
  }
  for (const Assignment::Flow& flow : got.flows) {
    EXPECT_NE(flow.from, flow.to);
    EXPECT_GT(flow.rows, 0);
    arriving[static_cast<std::size_t>(flow.to)] += flow.rows;
    leaving[static_cast<std::size_t>(flow.from)] += flow.rows;
    loads[static_cast<std::size_t>(flow.to)] += static_cast<double>(flow.rows);
    loads[static_cast<std::size_t>(flow.from)] -= static_cast<double>(flow.rows);
  }
  ASSERT_EQ(got.loads.size(), at.ranks.size());
  for (std::size_t r = 0; r < at.ranks.size(); ++r) {
    EXPECT_LE(leaving[r], at.ranks[r].lone_rows);
    if (at.ranks[r].room >= 0) {
      EXPECT_LE(arriving[r], at.ranks[r].room);
    }
    EXPECT_NEAR(got.loads[r], loads[r], static_cast<double>(at.clusters.size())) << "to a row per piece";
  }
}

TEST(Assign, IsSoundWhateverTheClusters) {
  Random random(4);
  for (int trial = 0; trial < 300; ++trial) {
    const Index room = trial % 2 == 0 ? -1 : draw(0, 3000, random);
    const Situation at = random_situation(draw(0, 80, random), static_cast<int>(draw(1, 9, random)),
                                          draw(0, 2000, random), room, random);
    const double alpha = std::vector<double>{0, 1, 5, 20, 50, 99.9, 100}[static_cast<std::size_t>(trial % 7)];
    SCOPED_TRACE(::testing::Message() << "trial " << trial << ", alpha " << alpha);
    const Assignment got = assign(at.clusters, at.ranks, alpha), again = assign(at.clusters, at.ranks, alpha);
    expect_sound(at, alpha, got);
    EXPECT_EQ(got.pieces, again.pieces);
    EXPECT_EQ(got.loads, again.loads);
    ASSERT_EQ(got.flows.size(), again.flows.size());
    for (std::size_t f = 0; f < got.flows.size(); ++f) EXPECT_EQ(got.flows[f].rows, again.flows[f].rows);
    if (HasFailure()) return;
  }
}

TEST(Assign, CutsTheLargestAlphaPercent) {
  Situation at{{}, std::vector<RankLoad>(4, {0, -1})};
  for (Index rows = 101; rows <= 200; ++rows) at.clusters.push_back({static_cast<std::uint64_t>(rows), rows, 0});
  const auto cut = [&](double alpha) {
    const Assignment got = assign(at.clusters, at.ranks, alpha);
    return std::count_if(got.pieces.begin(), got.pieces.end(), [](const auto& pieces) { return pieces.size() > 1; });
  };
  EXPECT_EQ(cut(0), 0);
  EXPECT_EQ(cut(5), 5);
  EXPECT_EQ(cut(10), 10);
  EXPECT_EQ(cut(100), 99) << "to the size of the smallest";
}

TEST(Assign, DoesNothingWithoutNeed) {
  const Assignment nothing = assign({}, {{0, -1}, {0, -1}}, 5);
  EXPECT_TRUE(nothing.pieces.empty());
  EXPECT_TRUE(nothing.flows.empty());
  EXPECT_EQ(nothing.loads, (std::vector<double>{0, 0}));
  const Assignment even = assign({{1, 100, 0}, {2, 100, 1}}, {{300, -1}, {310, -1}}, 5);
  EXPECT_EQ(even.pieces, (std::vector<std::vector<int>>{{0}, {1}})) << "to where most of it is";
  EXPECT_TRUE(even.flows.empty());
  const Assignment full = assign({{1, 100, 0}, {2, 60, 1}}, {{900, 0}, {0, 0}}, 5);
  EXPECT_EQ(full.pieces, (std::vector<std::vector<int>>{{-1, -1}, {-1}})) << "no room anywhere";
  EXPECT_TRUE(full.flows.empty());
}

TEST(Assign, CutsWhatIsTooMuchForARank) {
  const Assignment one = assign({{1, 1000, 2, 1000}}, std::vector<RankLoad>(4, {0, -1}), 5);
  ASSERT_EQ(one.pieces[0].size(), 4U);
  for (const double load : one.loads) EXPECT_NEAR(load, 250 * kSharedCost, 1e-9);
}

/// What the slowest rank makes the others wait: largest over mean predicted load.
double imbalance(const Assignment& assignment) {
  const double total = std::accumulate(assignment.loads.begin(), assignment.loads.end(), 0.0);
  const double largest = *std::max_element(assignment.loads.begin(), assignment.loads.end());
  return largest * static_cast<double>(assignment.loads.size()) / total;
}

TEST(Assign, BalancesTheLoad) {
  Random random(5);
  for (int trial = 0; trial < 20; ++trial) {
    SCOPED_TRACE(::testing::Message() << "trial " << trial);
    Situation at = random_situation(400, 8, 3000, -1, random);
    const Assignment got = assign(at.clusters, at.ranks, 5);
    EXPECT_LT(imbalance(got), 1.1);
    std::size_t stay = 0;
    for (std::size_t c = 0; c < at.clusters.size(); ++c) stay += got.pieces[c][0] == at.clusters[c].most_at;
    EXPECT_GT(stay, 200U) << "rows are moved only for a reason";
    for (Cluster& cluster : at.clusters) cluster.most_at = 3;
    EXPECT_LT(imbalance(assign(at.clusters, at.ranks, 5)), 1.1) << "all at one rank";
  }
  const Assignment lone = assign({}, {{1000, -1}, {0, -1}, {10, -1}, {600, -1}}, 5);
  EXPECT_LT(imbalance(lone), 1.1);
}

TEST(Assign, CutsAClusterIntoEvenPieces) {
  for (const Index rows : {48, 49, 100, 997})
    for (int count = 1; count <= 48; ++count) {
      std::vector<int> pieces(static_cast<std::size_t>(count));
      std::iota(pieces.begin(), pieces.end(), 0);
      std::vector<Index> sizes(pieces.size());
      int last = 0;
      for (Index row = 0; row < rows; ++row) {
        const int piece = rank_of_row(pieces, rows, row);
        EXPECT_GE(piece, last) << "one after the other";
        last = piece;
        ++sizes[static_cast<std::size_t>(piece)];
      }
      const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
      EXPECT_GE(*least, rows / count);
      EXPECT_LE(*most, (rows + count - 1) / count);
    }
}

using Rows = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // key and handle

Rows pairs(const std::vector<Row>& rows) {
  Rows all;
  for (const Row& row : rows) all.emplace_back(row.key, row.handle);
  return all;
}

TEST(Clustering, SortsByKey) {
  Random random(6);
  for (const std::size_t size : {0U, 1U, 2U, 3U, 1000U, 40000U})
    for (const std::uint64_t different : {1U, 2U, 50U, 1000000U})
      for (const bool spread : {false, true}) {
        std::vector<Row> rows(size);
        for (Row& row : rows) {
          row = {random(), random() % different};
          if (spread) row.key *= 0x9e3779b97f4a7c15U;
        }
        Rows expected = pairs(rows);
        std::sort(expected.begin(), expected.end());
        sort_by_key(rows);
        EXPECT_EQ(pairs(rows), expected) << size << " rows, " << different << " keys";
        std::map<std::uint64_t, Index> counts, got;
        for (const Row& row : rows) ++counts[row.key];
        for (const KeyCount& cluster : clusters_of(rows)) EXPECT_TRUE(got.emplace(cluster.key, cluster.rows).second);
        EXPECT_EQ(got, counts);
      }
}

struct Shared {
  std::vector<std::vector<Row>> before, after;  ///< by rank
  std::vector<MergedClusters> merged;
  Assignment assignment;
};

/// Small clusters mostly at the first rank and large ones mostly at any, merged, assigned and handed on.
Shared share_clusters(int ranks, int large, Index room, double alpha) {
  Random random(7);
  Shared all;
  all.before.resize(static_cast<std::size_t>(ranks));
  all.after = all.before;
  all.merged.resize(all.before.size());
  std::uint64_t handle = 0;
  for (int c = 0; c < 40 + large; ++c) {
    const std::uint64_t key = random();
    const Index favourite = c < 40 ? 0 : draw(0, ranks - 1, random), most = c < 40 ? 47 : 400;
    for (Index i = draw(0, most - 1, random); i >= 0; --i) {
      const Index rank = i % 3 == 0 ? draw(0, ranks - 1, random) : favourite;
      all.before[static_cast<std::size_t>(rank)].push_back({handle++, key});
    }
  }
  run_ranks(ranks, 0, [&](Team& team) {
    const auto me = static_cast<std::size_t>(team.rank());
    std::vector<Row> rows = all.before[me];
    sort_by_key(rows);
    const std::vector<KeyCount> own = clusters_of(rows);
    all.merged[me] = merge(team, own, room);
    const Assignment assignment = assign(all.merged[me].clusters, all.merged[me].loads, alpha);
    const auto outgoing = parting(rows, own, all.merged[me], assignment, team.rank());
    EXPECT_TRUE(outgoing[me].empty());
    for (const auto& arrived : exchange_lists(team, outgoing)) rows.insert(rows.end(), arrived.begin(), arrived.end());
    all.after[me] = std::move(rows);
    if (team.root()) all.assignment = assignment;
  });
  return all;
}

using Counts = std::map<std::uint64_t, std::vector<Index>>;  // rows of a key, by rank

Counts count(const std::vector<std::vector<Row>>& rows) {
  Counts counts;
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (const Row& row : rows[r]) {
      counts[row.key].resize(rows.size());
      ++counts[row.key][r];
    }
  return counts;
}

void expect_merged(const Shared& all, Index room) {
  Counts counts = count(all.before);
  std::vector<Index> lone(all.before.size()), gathered(all.before.size());
  std::size_t large = 0;
  for (const auto& [key, rows] : counts) {
    const bool worth = std::accumulate(rows.begin(), rows.end(), Index{0}) >= kWorthGathering;
    large += worth;
    for (std::size_t r = 0; r < rows.size(); ++r) (worth ? gathered : lone)[r] += rows[r];
  }
  for (std::size_t r = 0; r < all.merged.size(); ++r) {
    const MergedClusters& merged = all.merged[r];
    EXPECT_EQ(merged.different, static_cast<double>(counts.size()));
    EXPECT_EQ(merged.gathered_here, static_cast<double>(gathered[r]));
    ASSERT_EQ(merged.clusters.size(), large);
    for (std::size_t c = 0; c < large; ++c) {
      const Cluster& cluster = merged.clusters[c];
      const std::vector<Index>& rows = counts[cluster.key];
      EXPECT_EQ(cluster.rows, std::accumulate(rows.begin(), rows.end(), Index{0}));
      EXPECT_EQ(rows[static_cast<std::size_t>(cluster.most_at)], *std::max_element(rows.begin(), rows.end()));
      EXPECT_EQ(cluster.key, all.merged[0].clusters[c].key) << "in the same order everywhere";
    }
    ASSERT_EQ(merged.loads.size(), all.merged.size());
    for (std::size_t other = 0; other < lone.size(); ++other) {
      EXPECT_EQ(merged.loads[other].lone_rows, lone[other]);
      EXPECT_EQ(merged.loads[other].room, room);
    }
  }
}

/// No row is lost or doubled, and those of every cluster are where they were assigned to.
void expect_handed_on(const Shared& all) {
  std::vector<Row> before, after;
  for (const auto& rows : all.before) before.insert(before.end(), rows.begin(), rows.end());
  for (const auto& rows : all.after) after.insert(after.end(), rows.begin(), rows.end());
  sort_by_key(before);
  sort_by_key(after);
  EXPECT_EQ(pairs(after), pairs(before));

  Counts now = count(all.after);
  std::vector<Index> lone;
  for (const RankLoad& load : all.merged[0].loads) lone.push_back(load.lone_rows);
  for (const Assignment::Flow& flow : all.assignment.flows) {
    lone[static_cast<std::size_t>(flow.from)] -= flow.rows;
    lone[static_cast<std::size_t>(flow.to)] += flow.rows;
  }
  for (std::size_t c = 0; c < all.merged[0].clusters.size(); ++c) {
    const Cluster& cluster = all.merged[0].clusters[c];
    const std::vector<int>& pieces = all.assignment.pieces[c];
    if (std::count(pieces.begin(), pieces.end(), -1) == 0) {
      std::vector<Index> expected(lone.size());
      for (Index row = 0; row < cluster.rows; ++row)
        ++expected[static_cast<std::size_t>(rank_of_row(pieces, cluster.rows, row))];
      EXPECT_EQ(now[cluster.key], expected);
    }
    now.erase(cluster.key);
  }
  std::vector<Index> lone_now(lone.size());
  for (const auto& [key, rows] : now)
    for (std::size_t r = 0; r < rows.size(); ++r) lone_now[r] += rows[r];
  EXPECT_EQ(lone_now, lone);
}

TEST(Clustering, BringsClustersTogetherAndKeepsAllRows) {
  for (const int ranks : {1, 2, 3, 5})
    for (const int large : {0, 2, 50})
      for (const Index room : {-1, 150, 0})
        for (const double alpha : {0.0, 30.0}) {
          SCOPED_TRACE(::testing::Message()
                       << ranks << " ranks, " << large << " large clusters, room " << room << ", alpha " << alpha);
          const Shared all = share_clusters(ranks, large, room, alpha);
          expect_merged(all, room);
          expect_handed_on(all);
          if (room == 0) {
            EXPECT_EQ(count(all.before), count(all.after)) << "nowhere to go";
          }
          EXPECT_EQ(all.assignment.flows.empty(), ranks == 1 || large == 50 || room == 0);
        }
}

}  // namespace
}  // namespace gsc::test
