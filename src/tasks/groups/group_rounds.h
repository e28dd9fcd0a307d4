#pragma once
// Rounds of groups (patch_groups.h) that build on each other.
//
// Every round smooths a little more: too much for texture before it is enough for skies. So rounds are averaged where
// there are more than three; the first, which has most of the models' errors left, is not.

#include "tasks/groups/patch_groups.h"

namespace gsc {

/// mean += (value - mean) / count, for every pixel.
void average_in(Picture& mean, const Picture& value, int count, int threads = 1);

/// `result` is the pilot of the first round, and after each round the best picture so far. Calls begin_round() before
/// each; go_on and disagreement, which is of the last round, as in filter_groups().
void filter_in_rounds(const Picture& noisy, double noise, const GroupOptions& options, int rounds, Picture& result,
                      const std::function<void()>& begin_round = {}, const std::function<bool(double)>& go_on = {},
                      Picture* disagreement = nullptr);

}  // namespace gsc
