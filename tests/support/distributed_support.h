#pragma once
// What the tests of learning in a team share: layouts of teams, problems, and fit() on every rank.

#include <gsc/fit.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <ostream>
#include <vector>

#include "distributed/thread_team.h"
#include "inference_check.h"
#include "random_model.h"

namespace gsc::test {

/// The ranks are threads; what makes them nodes is that rows go from one to another as bytes only.
struct Layout {
  int ranks;
  int per_node;  ///< 0: one node
  Partition partition;
};
inline std::ostream& operator<<(std::ostream& out, const Layout& layout) {
  return out << layout.ranks << " ranks, " << layout.per_node << " per node, " << to_string(layout.partition);
}

inline constexpr Partition kEveryPartition[] = {Partition::uniform, Partition::local, Partition::global};

/// Nodes matter only to the global partition.
inline std::vector<Layout> every_layout(int most_ranks) {
  std::vector<Layout> all;
  for (int ranks = 1; ranks <= most_ranks; ++ranks) {
    for (const Partition partition : kEveryPartition) all.push_back({ranks, 0, partition});
    for (int per_node = 1; per_node < std::min(ranks, 3); ++per_node)
      all.push_back({ranks, per_node, Partition::global});
  }
  return all;
}

/// Calls body(options, rank) on every rank, with options that share among the team.
inline void in_team(const Layout& layout, FitOptions options, const std::function<void(const FitOptions&, int)>& body) {
  options.sharing.partition = layout.partition;
  run_ranks(layout.ranks, layout.per_node, [&](Team& team) {
    FitOptions mine = options;
    mine.sharing.team = &team;
    body(mine, team.rank());
  });
}

/// What fit() returns on every rank. watchers: none, or one for each rank.
inline std::vector<FitResult> fit_in_team(const Layout& layout, const Data& data, const FitOptions& options,
                                          std::vector<Watcher*> watchers = {}, const std::optional<Model>& start = {}) {
  watchers.resize(static_cast<std::size_t>(layout.ranks));
  std::vector<FitResult> results(watchers.size());
  in_team(layout, options, [&](const FitOptions& mine, int rank) {
    const auto r = static_cast<std::size_t>(rank);
    results[r] = fit(data, mine, watchers[r], start);
  });
  return results;
}

inline bool same_bits(const Model& a, const Model& b) {
  return a.W == b.W && a.W_variance == b.W_variance && a.pi == b.pi && a.mu == b.mu &&
         a.slab.values() == b.slab.values() && a.noise.values() == b.noise.values();
}

struct Problem {
  Index dimensions, latents, candidates, max_active, points;
};
inline constexpr Problem kMixed{8, 10, 5, 3, 403};      // hardly two points with the same candidates
inline constexpr Problem kClustered{6, 6, 3, 2, 2000};  // 20 candidate sets at most

inline Model model_of(const Problem& problem, ModelKnobs knobs = {}) {
  knobs.dimensions = problem.dimensions;
  knobs.latents = problem.latents;
  knobs.pi_low = 0.1;
  knobs.pi_high = 0.3;
  return random_model(knobs, 5);
}

inline Matrix data_of(const Problem& problem, const ModelKnobs& knobs = {}) {
  return random_data(model_of(problem, knobs), problem.points, 6);
}

inline FitOptions options_of(const Problem& problem, Init init = Init::data) {
  FitOptions options;
  options.latents = problem.latents;
  options.inference = truncated(problem.candidates, problem.max_active, Selection::conditional, 1);
  options.init = init;
  options.iterations = 20;
  options.tolerance = 0;
  return options;
}

}  // namespace gsc::test
