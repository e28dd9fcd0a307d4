#pragma once
// Which patches of a picture look alike: the neighbours of inference with priors of their own (gsc/nonlocal.h).

#include <gsc/nonlocal.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "tasks/groups/block_matching.h"

namespace gsc {

/// Of the patches at every position of the pilot, in the order of grid_positions() with stride 1; a copy of the pilot
/// is kept. With a device it may look for them, unless it cannot.
class PatchNeighbours final : public Neighbours {
 public:
  PatchNeighbours(const Picture& pilot, Index patch, Index reach, Index count, PatchDevice* device = nullptr,
                  int threads = 1)
      : pilot_(pilot, Colours::turned, threads), matcher_(pilot_, patch, reach), count_(count) {
    if (device != nullptr) search_ = device->search(pilot_.view(), patch, std::min(reach, kMostReach), count);
  }

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
  bool of_rows(Index first, Index count, std::uint32_t* rows, std::int32_t* found) const override {
    if (search_ == nullptr) return false;
    search_->find(first, count, rows, found);
    return true;
  }

 private:
  Planes pilot_;
  BlockMatcher matcher_;
  Index count_;
  std::unique_ptr<PatchSearch> search_;
};

}  // namespace gsc
