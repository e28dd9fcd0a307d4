#include "tasks/groups/block_matching.h"

#include "inference/simd_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tasks/groups/block_matching.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>
#include <vector>

HWY_BEFORE_NAMESPACE();
namespace gsc {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Of the patches at (row, first + i), i < count, those nearer to the one at (at_row, at_col) than `limit`: their
/// distances, and i into `places`. Returns how many. Vectors in which no lane can come below the limit any more are
/// left before the last row of the patch.
Index Nearer(const Planes& pilot, Index patch, Index at_row, Index at_col, Index row, Index first, Index count,
             float limit, float* distances, std::int32_t* places) {
  const hn::ScalableTag<float> d;
  const hn::RebindToSigned<decltype(d)> di;
  using V = hn::Vec<decltype(d)>;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const V limits = hn::Set(d, limit);
  Index found = 0;
  const auto keep = [&](V distance, Index i) {
    if (i >= count) return;
    const auto inside = hn::FirstN(d, static_cast<std::size_t>(count - i));
    const auto nearer = hn::And(hn::Lt(distance, limits), inside);
    if (hn::AllFalse(d, nearer)) return;
    hn::CompressStore(distance, nearer, d, distances + found);
    found += static_cast<Index>(
        hn::CompressStore(hn::Iota(di, static_cast<std::int32_t>(i)), hn::RebindMask(di, nearer), di, places + found));
  };
  for (Index i = 0; i < count; i += 2 * lanes) {
    V even = hn::Zero(d), odd = even;
    const auto hopeless = [&] { return hn::AllFalse(d, hn::Lt(hn::Min(even, odd), limits)); };
    bool left = false;
    for (Index p = 0; p < pilot.size() && !left; ++p)
      for (Index r = 0; r < patch && !left; ++r) {
        const float* here = pilot.row(p, at_row + r) + at_col;
        const float* there = pilot.row(p, row + r) + first + i;
        for (Index c = 0; c < patch; ++c) {
          const V reference = hn::Set(d, here[c]);
          const V a = hn::Sub(hn::LoadU(d, there + c), reference);
          const V b = hn::Sub(hn::LoadU(d, there + c + lanes), reference);
          even = hn::MulAdd(a, a, even);
          odd = hn::MulAdd(b, b, odd);
        }
        left = hopeless();
      }
    if (left) continue;
    keep(even, i);
    keep(odd, i + lanes);
  }
  return found;
}

}  // namespace HWY_NAMESPACE
}  // namespace gsc
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gsc {

HWY_EXPORT(Nearer);

namespace {

/// The rows of the window in the order in which they are searched: 0, -1, +1, -2, ... from the reference.
Index row_of(Index row, Index visit) { return visit % 2 == 1 ? row - (visit + 1) / 2 : row + visit / 2; }

/// The nearest so far. A number for each patch: its distance, which orders as its bits do, then where in the order of
/// the search it came.
class Nearest {
 public:
  explicit Nearest(Index most) : most_(static_cast<std::size_t>(most)) { keys_.clear(); }

  float limit() const { return limit_; }
  void add(float distance, Index visit, std::int32_t column) {
    keys_.push_back(std::uint64_t{std::bit_cast<std::uint32_t>(distance)} << 32U |
                    static_cast<std::uint64_t>(visit) << 16U | static_cast<std::uint64_t>(column));
  }
  /// Only now and then are those that are too many taken out: moving them is what a list kept in order costs.
  void cut() {
    if (2 * keys_.size() < 3 * most_) return;
    std::nth_element(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(most_ - 1), keys_.end());
    keys_.resize(most_);
    limit_ = distance(keys_.back());
  }
  /// Nearest first.
  Index finish(Index row, Index left, PatchMatch* matches) {
    const std::size_t found = std::min(keys_.size(), most_);
    std::partial_sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(found), keys_.end());
    for (std::size_t k = 0; k < found; ++k)
      matches[k] = {distance(keys_[k]), static_cast<std::int32_t>(row_of(row, (keys_[k] >> 16U) & 0xffffU)),
                    static_cast<std::int32_t>(left + static_cast<Index>(keys_[k] & 0xffffU))};
    return static_cast<Index>(found);
  }

 private:
  static float distance(std::uint64_t key) { return std::bit_cast<float>(static_cast<std::uint32_t>(key >> 32U)); }

  std::size_t most_;
  float limit_ = std::numeric_limits<float>::infinity();
  static thread_local std::vector<std::uint64_t> keys_;
};

thread_local std::vector<std::uint64_t> Nearest::keys_;

}  // namespace

Index BlockMatcher::find(Index row, Index col, Index most, PatchMatch* matches) const {
  assert(reach_ <= kMostReach);
  const Index bottom = std::min(pilot_.height() - patch_, row + reach_);
  const Index left = std::max<Index>(0, col - reach_), right = std::min(pilot_.width() - patch_, col + reach_);
  constexpr Index kWindow = 2 * kMostReach + 1 + 32;  // and a vector more, which may be written
  float distances[kWindow];
  std::int32_t columns[kWindow];
  Nearest nearest(most);
  for (Index visit = 0; visit <= 2 * reach_; ++visit) {
    const Index y = row_of(row, visit);
    if (y < 0 || y > bottom) continue;
    const Index found = HWY_DYNAMIC_DISPATCH(Nearer)(pilot_, patch_, row, col, y, left, right - left + 1,
                                                     nearest.limit(), distances, columns);
    for (Index i = 0; i < found; ++i) nearest.add(distances[i], visit, columns[i]);
    nearest.cut();
  }
  return nearest.finish(row, left, matches);
}

}  // namespace gsc
#endif
