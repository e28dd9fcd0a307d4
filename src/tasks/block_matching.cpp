#include "tasks/block_matching.h"

#include "inference/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tasks/block_matching.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cassert>
#include <limits>

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// distances[i] of the patches at (row, first + i), i < count, to the one at (at_row, at_col).
void RowDistances(const Planes& pilot, Index patch, Index at_row, Index at_col, Index row, Index first, Index count,
                  float* distances) {
  const hn::ScalableTag<float> d;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  for (Index i = 0; i < count; i += 2 * lanes) {
    V even = hn::Zero(d), odd = even;
    for (Index p = 0; p < pilot.size(); ++p)
      for (Index r = 0; r < patch; ++r) {
        const float* here = pilot.row(p, at_row + r) + at_col;
        const float* there = pilot.row(p, row + r) + first + i;
        for (Index c = 0; c < patch; ++c) {
          const V reference = hn::Set(d, here[c]);
          const V a = hn::Sub(hn::LoadU(d, there + c), reference);
          const V b = hn::Sub(hn::LoadU(d, there + c + lanes), reference);
          even = hn::MulAdd(a, a, even);
          odd = hn::MulAdd(b, b, odd);
        }
      }
    hn::StoreU(even, d, distances + i);
    hn::StoreU(odd, d, distances + i + lanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(RowDistances);

Index BlockMatcher::find(Index row, Index col, Index most, PatchMatch* matches) const {
  assert(reach_ <= kMostReach);
  const Index top = std::max<Index>(0, row - reach_), bottom = std::min(pilot_.height() - patch_, row + reach_);
  const Index left = std::max<Index>(0, col - reach_), right = std::min(pilot_.width() - patch_, col + reach_);
  float distances[2 * kMostReach + 1 + 32];
  Index found = 0;
  float worst = std::numeric_limits<float>::infinity();
  const auto search_row = [&](Index y) {
    HWY_DYNAMIC_DISPATCH(RowDistances)(pilot_, patch_, row, col, y, left, right - left + 1, distances);
    for (Index x = left; x <= right; ++x) {
      const float distance = distances[x - left];
      if (!(distance < worst)) continue;
      Index at = found < most ? found++ : most - 1;
      for (; at > 0 && matches[at - 1].distance > distance; --at) matches[at] = matches[at - 1];
      matches[at] = {distance, static_cast<std::int32_t>(y), static_cast<std::int32_t>(x)};
      if (found == most) worst = matches[most - 1].distance;
    }
  };
  search_row(row);
  for (Index away = 1; away <= reach_; ++away) {
    if (row - away >= top) search_row(row - away);
    if (row + away <= bottom) search_row(row + away);
  }
  return found;
}

}  // namespace gsc
#endif
