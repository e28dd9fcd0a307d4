#pragma once
// How far states can be gone over.

#include <gsc/inference.h>

namespace gsc {

/// The subset tree keeps some per-candidate vectors on the stack.
inline constexpr int kMaxCandidates = 128;

#pragma GCC visibility push(default)  // for the libraries that build on this one
/// Subsets of so many candidates with at most max_active members, the empty one included.
double state_count(Index candidates, Index max_active);
#pragma GCC visibility pop

}  // namespace gsc
