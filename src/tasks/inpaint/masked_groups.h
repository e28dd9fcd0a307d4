#pragma once
// Filling the gaps of a picture from patches that look alike: groups as in patch_groups.h, but each patch's missing
// values, and where there is noise the observed ones, become their posterior means given what is observed of the patch
// (masked_group_filter.h). Values of overlapping patches are averaged by how certain each is,
//
//   x = sum w x / sum w,   w = 1 / (Var(x) + floor),    and the variance told is that of the mean of the others' kind,
//   sum w Var(x) / sum w    (patches.h says why it is not less).

#include <gsc/picture.h>

#include <functional>

#include "tasks/groups/patch_groups.h"

namespace gsc {

struct MaskedGroupOptions {
  std::vector<GroupSize> sizes = {{}};  ///< the results of all are averaged
  Index reach = 20;                     ///< members are at most so many rows and columns away
  Index step = 3;                       ///< references are so many pixels apart
  double noise = 1;                     ///< standard deviation that observed values are taken to have
  double ridge = 1;                     ///< the same of what a group's covariance does not hold
  double weight_floor = 1;              ///< in units of noise and ridge: how far certainty may favour a value
  bool everywhere = false;              ///< also where nothing is missing: observed values are denoised, too
  int threads = 0;
};

/// `variance` is that of the posterior.
struct FilledGroups {
  Picture picture, variance;
};

/// One round. `damaged` has NaN where values are missing; `pilot` has all of them. Values that no group is
/// asked for, as they are observed and not `everywhere`, are those of the pilot, with variance 0. The same bits
/// whatever the threads. Asks stop_at(share done) now and then; throws Interrupted if that returns true.
FilledGroups fill_groups(const Picture& damaged, const Picture& pilot, const MaskedGroupOptions& options,
                         const std::function<bool(double)>& stop_at = {});

/// Channels that are filled together, as their patches have one covariance: all, or where there are many bands, three
/// neighbours each.
std::vector<std::vector<Index>> channels_together(Index channels);

}  // namespace gsc
