#pragma once
// A second opinion on a denoised picture: groups of patches that look alike in it are Gaussians of their own
// (group_filter.h), the noisy patches become their posterior means, and overlapping ones are averaged. It errs
// elsewhere than a dictionary does, which has one prior for the whole picture.

#include <gsc/picture.h>
#include <gsc/team.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "inference/patch_device.h"

namespace gsc {

/// Groups of one size.
struct GroupSize {
  Index patch = 8;     ///< pixels a side
  Index members = 32;  ///< patches of a group
  Index most = 0;      ///< where it is more: so many, as far as they are as good as equal (GroupOptions::equal)

  Index largest() const { return std::max(members, most); }
};

struct GroupOptions {
  std::vector<GroupSize> sizes = {{}};  ///< the results of all are averaged
  Index reach = 15;                     ///< members are at most so many rows and columns away
  Index step = 3;                       ///< references are so many pixels apart
  /// Patches are as good as equal that differ by less than this share of the noise's variance, mean of their values:
  /// the more of them there are in a sky, the better its mean, while texture gains nothing from members that are less
  /// like it.
  double equal = 0.02;
  int threads = 0;
  Team* team = nullptr;  ///< ranks share the references; all have the pictures and get the result. None: alone
  /// What does it in place of the processor where it has such groups, and there is no team. None: the processor.
  PatchDevice* device = nullptr;
};

/// One round. `noise`: standard deviation. The pilot's patches say which are alike, and their mean and covariance. Sums
/// are made in an order that does not depend on threads. Asks stop_at(share done) now and then; throws Interrupted if
/// that returns true. `disagreement`, where it is asked for, becomes the variance of the results of the sizes.
Picture filter_groups(const Picture& noisy, const Picture& pilot, double noise, const GroupOptions& options,
                      const std::function<bool(double)>& stop_at = {}, Picture* disagreement = nullptr);

/// mean += (value - mean) / count, for every pixel.
void average_in(Picture& mean, const Picture& value, int count, int threads = 1);

/// Rounds that build on each other. Each smooths a little more: too much for texture before it is enough for skies. So
/// rounds are averaged where there are more than three; the first, which has most of the models' errors left, is not.
///
/// `result` is the pilot of the first round, and after each round the best picture so far. Calls begin_round() before
/// each; stop_at and disagreement, which is of the last round, as in filter_groups().
void filter_in_rounds(const Picture& noisy, double noise, const GroupOptions& options, int rounds, Picture& result,
                      const std::function<void()>& begin_round = {}, const std::function<bool(double)>& stop_at = {},
                      Picture* disagreement = nullptr);

}  // namespace gsc
