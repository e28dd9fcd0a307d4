#pragma once
// Which patches of a picture look alike: the neighbours of inference with priors of their own (gsc/nonlocal.h).

#include <gsc/nonlocal.h>

#include <vector>

#include "tasks/block_matching.h"

namespace gsc {

/// Of the patches at every position of the pilot, in the order of grid_positions() with stride 1; a copy of the pilot
/// is kept.
class PatchNeighbours final : public Neighbours {
 public:
  PatchNeighbours(const Picture& pilot, Index patch, Index reach, Index count)
      : pilot_(pilot), matcher_(pilot_, patch, reach), count_(count) {}

  Index most() const override { return count_; }
  Index of(Index n, std::uint32_t* rows) const override {
    const Index columns = pilot_.width() - matcher_.patch() + 1;
    thread_local std::vector<PatchMatch> matches;
    matches.resize(static_cast<std::size_t>(count_));
    const Index found = matcher_.find(n / columns, n % columns, count_, matches.data());
    for (Index k = 0; k < found; ++k) {
      const PatchMatch& match = matches[static_cast<std::size_t>(k)];
      rows[k] = static_cast<std::uint32_t>(match.row * columns + match.col);
    }
    return found;
  }

 private:
  Planes pilot_;
  BlockMatcher matcher_;
  Index count_;
};

}  // namespace gsc
