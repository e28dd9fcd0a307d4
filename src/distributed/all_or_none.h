#pragma once
// What ranks must agree on: whether all of them managed their part.

#include <gsc/export.h>
#include <gsc/team.h>

#include <functional>

namespace gsc {

/// Runs this rank's part of a piece of work. If any rank's part throws, all ranks throw what the first of them did
/// (Interrupted and UsageError as such), so that nobody waits for one who has given up. Errors are waited for here;
/// returns the seconds that took.
GSC_EXPORT double together(Team& team, const std::function<void()>& part);

}  // namespace gsc
