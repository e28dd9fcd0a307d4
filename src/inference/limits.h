#pragma once
// How far states can be gone over.

#include <gsc/export.h>
#include <gsc/inference.h>

namespace gsc {

/// The subset tree keeps some per-candidate vectors on the stack.
inline constexpr int kMaxCandidates = 128;

/// Subsets of so many candidates with at most max_active members, the empty one included.
GSC_EXPORT double state_count(Index candidates, Index max_active);

}  // namespace gsc
