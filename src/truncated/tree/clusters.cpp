#include "truncated/tree/clusters.h"

#include <algorithm>
#include <array>

namespace gsc {
namespace {

/// Spreads a small number over 64 bits; the finaliser of the SplitMix64 generator.
std::uint64_t mix(std::uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

using Set = std::array<std::uint16_t, kMaxCandidates>;

Set sorted_candidates(const PreparedModel& model, const Workspace& workspace, std::uint32_t point) {
  Set set{};
  std::copy_n(workspace.candidates.data() + point * static_cast<std::size_t>(model.candidates), model.candidates,
              set.begin());
  std::sort(set.begin(), set.begin() + model.candidates);
  return set;
}

}  // namespace

std::uint64_t candidates_key(const PreparedModel& model, const Workspace& workspace, std::uint32_t point) {
  const std::uint16_t* candidates = workspace.candidates.data() + point * static_cast<std::size_t>(model.candidates);
  std::uint64_t key = 0;
  for (int i = 0; i < model.candidates; ++i) key += mix(candidates[i]);
  return key;
}

void sort_by_candidates(const PreparedModel& model, Index count, Workspace& workspace) {
  if (model.candidates == model.latents) return;  // one cluster
  const auto end = workspace.order.begin() + count;
  for (auto it = workspace.order.begin(); it != end; ++it) it->key = candidates_key(model, workspace, it->point);
  std::sort(workspace.order.begin(), end,
            [](const auto& a, const auto& b) { return a.key != b.key ? a.key < b.key : a.point < b.point; });
}

bool same_candidates(const PreparedModel& model, const Workspace& workspace, std::size_t first, std::size_t end) {
  if (model.candidates == model.latents) return true;
  const Set reference = sorted_candidates(model, workspace, workspace.order[first].point);
  return std::all_of(workspace.order.begin() + static_cast<Index>(first),
                     workspace.order.begin() + static_cast<Index>(end),
                     [&](const auto& keyed) { return sorted_candidates(model, workspace, keyed.point) == reference; });
}

}  // namespace gsc
