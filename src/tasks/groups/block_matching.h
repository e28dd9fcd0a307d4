#pragma once
// The patches of a picture that look most like one of them.
//
//   distance of patches at a and b = sum over planes and pixels of (pilot[a + i] - pilot[b + i])^2
//
// Brute force over a window: a vector holds the distances of neighbouring patches, so a pixel of the reference serves
// 8 or 16 of them. Nothing is stored between references.

#include "tasks/picture/planes.h"

namespace gsc {

struct PatchMatch {
  float distance;
  std::int32_t row, col;
};

class BlockMatcher {
 public:
  /// Patches of patch x patch pixels of the pilot, which must stay, at most `reach` pixels away in each direction.
  BlockMatcher(const Planes& pilot, Index patch, Index reach) : pilot_(pilot), patch_(patch), reach_(reach) {}

  /// Writes the (at most) `most` nearest patches, nearest first; the patch itself is among them. Of equal ones those
  /// stay that come first in the order of rows 0, -1, +1, -2, ... from the reference and of columns. Returns how many.
  Index find(Index row, Index col, Index most, PatchMatch* matches) const;

  Index patch() const { return patch_; }

 private:
  const Planes& pilot_;
  Index patch_, reach_;
};

/// Widest window there is buffer for.
inline constexpr Index kMostReach = 64;

}  // namespace gsc
