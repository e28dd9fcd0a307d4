#pragma once
// How far states can be gone over.

#include <gsc/export.h>
#include <gsc/inference.h>

namespace gsc {

/// The subset tree keeps some per-candidate vectors on the stack.
inline constexpr int kMaxCandidates = 128;

/// Subsets of so many candidates with at most max_active members, the empty one included.
GSC_EXPORT double state_count(Index candidates, Index max_active);

/// Of methods that sum over states: the latents that are in them, and the most of these that are on.
struct StateSpace {
  Index candidates, max_active;
  double states() const { return state_count(candidates, max_active); }
};
GSC_EXPORT StateSpace state_space(const InferenceOptions& options, Index latents);
/// Whether the method sums over all states there are.
bool over_all_states(const InferenceOptions& options, Index latents);

}  // namespace gsc
