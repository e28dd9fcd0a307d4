#pragma once
// The patches of a picture that look most like one of them: BlockMatcher (tasks/groups/block_matching.h) with the same
// arithmetic in the same order, so that it finds the same ones. One warp a reference; a lane has two candidates of a
// row of the window, 32 columns apart. What may be among the nearest is appended to a list, and now and then the list
// is sorted and cut.

#include <limits>

#include "cuda/queue/warp.h"

namespace gsc::cuda {

/// Some rows of a picture, in planes: row `top` of the picture comes first.
struct WindowView {
  const float* values;
  int planes;
  long plane_step;  ///< from plane to plane
  int stride;       ///< from row to row
  int top;
  int height, width;  ///< of the whole picture
};

struct MatchKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  static constexpr int kKeys = 256;          // in the list
  static constexpr int kMost = 160;          // nearest that can be asked for: two vectors more must fit
  static constexpr int kMostPatch = kLanes;  // a row of the reference is loaded at once

  WindowView pilot;
  int patch, reach, most;
  /// Reference i is at row min(i / columns * step, last row), column min(i % columns * step, last column).
  long first;
  long columns;
  int step;
  /// A group's members: at least so many, more if they differ by less than `equal`; at most `most`.
  int members;
  float equal;
  int out_stride, out_top;  ///< a place is (row - out_top) * out_stride + column
  std::int32_t* places;     ///< references x most, nearest first; where there are fewer, 0 behind them
  std::int32_t* counts;     ///< references

  static std::size_t scratch_bytes(int planes, int patch) {
    const std::size_t side = static_cast<std::size_t>(patch), floats = (planes * side * side + 3) / 4 * 4;
    return kKeys * sizeof(std::uint64_t) + floats * sizeof(float);
  }

  /// Keys 0 .. size-1 in order, size being a power of two of at least 64: bitonic sort.
  GSC_KERNEL void sort(std::uint64_t* keys, int size) const {
    for (int run = 2; run <= size; run *= 2)
      for (int far = run / 2; far > 0; far /= 2) {
        for (int base = 0; base < size / 2; base += kLanes) {
          const Lanes<int> pair = lane_index() + base;
          const Lanes<int> one = (pair - (pair & (far - 1))) * 2 + (pair & (far - 1)), other = one + far;
          const Lanes<std::uint64_t> a = load<std::uint64_t>(keys, one), b = load<std::uint64_t>(keys, other);
          const Lanes<bool> turn = ((one & run) == 0) == (b < a);
          store<std::uint64_t>(keys, one, select<std::uint64_t>(turn, b, a));
          store<std::uint64_t>(keys, other, select<std::uint64_t>(turn, a, b));
        }
        sync();
      }
  }

  /// Sorts the list.
  GSC_KERNEL void sort_all(std::uint64_t* keys, int count) const {
    int size = 64;
    while (size < count) size *= 2;
    const std::uint64_t last = std::numeric_limits<std::uint64_t>::max();
    for (int base = count / kLanes * kLanes; base < size; base += kLanes) {
      const Lanes<int> at = lane_index() + base;
      store<std::uint64_t>(keys, at, Lanes<std::uint64_t>(last), at >= count);
    }
    sync();
    sort(keys, size);
  }

  GSC_KERNEL float distance(std::uint64_t key) const { return float_of(static_cast<std::uint32_t>(key >> 32U)); }

  /// Rows of the window in the order in which they are searched: 0, -1, +1, -2, ... from the reference.
  static GSC_BOTH constexpr int row_of(int row, int visit) {
    return visit % 2 == 1 ? row - (visit + 1) / 2 : row + visit / 2;
  }

  GSC_KERNEL void load_reference(float* reference, int row, int col) const {
    const Lanes<int> c = lane_index();
    for (int p = 0; p < pilot.planes; ++p)
      for (int r = 0; r < patch; ++r) {
        const float* from = pilot.values + p * pilot.plane_step + static_cast<long>(row - pilot.top + r) * pilot.stride;
        store<float>(reference, c + (p * patch + r) * patch, load<float>(from, c + col, c < patch, 0.0F), c < patch);
      }
    sync();
  }

  /// Adds the candidates of row y from column x on, 32 and 32, that are nearer than the limit; returns how many there
  /// are in the list then.
  GSC_KERNEL int search(const float* reference, int y, int x, int right, int visit, int left, float limit,
                        std::uint64_t* keys, int count) const {
    const Lanes<int> column = lane_index() + x, next = column + kLanes;
    const Lanes<int> at = smaller<int>(column, right), next_at = smaller<int>(next, right);  // nothing beyond is read
    Lanes<float> even = 0.0F, odd = 0.0F;
    for (int p = 0; p < pilot.planes; ++p) {
      const float* plane = pilot.values + p * pilot.plane_step;
      for (int r = 0; r < patch; ++r) {
        const float* here = reference + static_cast<long>(p * patch + r) * patch;
        const float* there = plane + static_cast<long>(y - pilot.top + r) * pilot.stride;
        GSC_UNROLL4
        for (int c = 0; c < patch; ++c) {
          const Lanes<float> value = here[c];
          const Lanes<float> a = load<float>(there + c, at) - value, b = load<float>(there + c, next_at) - value;
          even = multiply_add<float>(a, a, even);
          odd = multiply_add<float>(b, b, odd);
        }
        if (!any(smaller<float>(even, odd) < limit)) return count;
      }
    }
    const std::uint64_t of_row = static_cast<std::uint64_t>(visit) << 16U;
    const auto keep = [&](Lanes<float> distance, Lanes<int> col) {
      const Lanes<bool> nearer = distance < limit && col <= right;
      const std::uint32_t bits = ballot(nearer);
      const Lanes<std::uint64_t> high = convert<std::uint64_t>(bits_of(distance)) * (std::uint64_t{1} << 32U);
      store<std::uint64_t>(keys, count_before(bits) + count, high + (convert<std::uint64_t>(col - left) + of_row),
                           nearer);
      count += count_bits(bits);
    };
    keep(even, column);
    keep(odd, next);
    return count;
  }

  GSC_KERNEL void operator()(const Warp& warp) const {
    std::uint64_t* keys = reinterpret_cast<std::uint64_t*>(warp.scratch);
    float* reference = reinterpret_cast<float*>(keys + kKeys);
    const long index = first + warp.index, at_row = index / columns * step, at_col = index % columns * step;
    const int last_row = pilot.height - patch, last_col = pilot.width - patch;
    const int row = static_cast<int>(at_row < last_row ? at_row : last_row);
    const int col = static_cast<int>(at_col < last_col ? at_col : last_col);
    const int left = col > reach ? col - reach : 0, right = col + reach < last_col ? col + reach : last_col;
    load_reference(reference, row, col);
    float limit = std::numeric_limits<float>::infinity();
    int count = 0;
    for (int visit = 0; visit <= 2 * reach; ++visit) {
      const int y = row_of(row, visit);
      if (y < 0 || y > last_row) continue;
      for (int x = left; x <= right; x += 2 * kLanes) {
        count = search(reference, y, x, right, visit, left, limit, keys, count);
        if (count < most + most / 2 && count <= kKeys - 2 * kLanes) continue;
        sync();
        sort_all(keys, count);
        count = count < most ? count : most;
        if (count == most) limit = distance(keys[most - 1]);
        sync();
      }
    }
    sync();
    sort_all(keys, count);
    give(warp.index, row, left, keys, count < most ? count : most);
  }

  GSC_KERNEL void give(long reference, int row, int left, const std::uint64_t* keys, int found) const {
    int kept = found < members ? found : members;
    const int least = kept;
    for (int base = 0; base < most; base += kLanes) {
      const Lanes<int> k = lane_index() + base;
      const Lanes<bool> exists = k < found;
      const Lanes<std::uint64_t> key = load<std::uint64_t>(keys, k, exists, std::uint64_t{0});
      const Lanes<int> visit = convert<int>((key >> 16U) & std::uint64_t{0xffff});
      const Lanes<int> x = convert<int>(key & std::uint64_t{0xffff}) + left;
      const Lanes<int> half = (visit + 1) / 2;
      const Lanes<int> y = select<int>((visit & 1) == 1, Lanes<int>(row) - half, half + row);
      const Lanes<int> place = select<int>(exists, (y - out_top) * out_stride + x, 0);
      store<std::int32_t>(places + reference * most, k, place, k < most);
      const Lanes<bool> equals = k >= least && exists && float_of(convert<std::uint32_t>(key >> 32U)) < equal;
      kept += count_bits(ballot(equals));
    }
    store<std::int32_t>(counts + reference, lane_index(), Lanes<std::int32_t>(kept), lane_index() == 0);
  }
};

}  // namespace gsc::cuda
