#pragma once
// Groups of patches that look alike, each a Gaussian of its own: the formulas of GroupFilter (tasks/groups/group_filter.h).
// One warp a group and plane.
//
//   few members:  M = X'X + c I,   B = X'Y,   S = M^-1 B,   z = m + X S        all K wide
//   few values:   M = XX' + c I,              z = m + (y - m) - c M^-1 (y - m)  all D wide
//
// The members are read from the picture where they are needed, 32 values of all at a time; M, B and S stay in shared
// memory. A lane looks after a value when patches are read or written, after blocks of entries in products.
//
// Filtered patches are added up as whole numbers: these sums do not depend on their order.

#include "cuda/kernels/match_kernel.h"
#include "cuda/kernels/small_product.h"

namespace gsc::cuda {

/// Multiply-adds of the two ways: 3 K^2 D + 2 K^3 against 2 D^2 K + D^3.
GSC_BOTH constexpr bool few_members(int values, int members) {
  const float ratio = static_cast<float>(values) / static_cast<float>(members);
  return 3 * ratio + 2 < ratio * ratio * (2 + ratio);
}

/// One of these is a weight of 1, in the sums of weights.
inline constexpr float kWeightUnit = 1099511627776.0F;  // 2^40

/// Where the parts of a warp's shared memory begin, in numbers of four bytes.
struct GroupLayout {
  int offsets, mean, column, matrices, stage, size;

  /// For groups of up to so many members.
  static GroupLayout of(int values, int members) {
    const int K4 = to_fours(members), D4 = to_fours(values), D32 = (values + kLanes - 1) / kLanes * kLanes;
    int few = members;  // the most members that still are few
    while (few > 1 && !few_members(values, few)) --few;
    const int F4 = to_fours(few), by_value = few < members ? D4 : 0;
    const auto larger = [](int one, int other) { return one > other ? one : other; };
    GroupLayout layout{};
    layout.offsets = K4;
    layout.mean = layout.offsets + D32;
    layout.column = layout.mean + D32;
    layout.matrices = layout.column + larger(F4, by_value);
    layout.stage = layout.matrices + larger(F4 * 2 * F4, by_value * by_value);
    layout.size = layout.stage + larger(2 * kLanes * F4, by_value * K4);
    return layout;
  }
};

struct GroupKernel {
  static constexpr int kWarps = 1, kBlocks = 12;
  static constexpr int kAtOnce = 8;  // members that are read before the first is waited for

  WindowView pilot, noisy;
  int patch, values;  ///< a side, D
  int most;           ///< members in a list
  int from, to;       ///< groups with so many members are done here
  GroupLayout layout;
  float variance;  ///< v
  float unit;      ///< one of these numbers is a value of 1, in the sums
  const std::int32_t *places, *members;
  std::int64_t *sums, *weights;  ///< planes as in the pilot; weights where a patch begins

  static std::size_t scratch_bytes(const GroupLayout& layout) {
    return static_cast<std::size_t>(layout.size) * sizeof(float);
  }

  /// A group at work.
  struct Group {
    int K, K4, D, D4;
    const float *pilot, *noisy;
    std::int64_t *sums, *weights;
    std::int32_t *places, *offsets;
    float *mean, *column, *M, *stage;
    float unit;
  };

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long index = warp.index / pilot.planes, plane = warp.index % pilot.planes;
    const int K = members[index];
    if (K < from || K > to) return;
    float* memory = reinterpret_cast<float*>(warp.scratch);
    std::int32_t* whole = reinterpret_cast<std::int32_t*>(warp.scratch);
    const Group g{K,
                  to_fours(K),
                  values,
                  to_fours(values),
                  pilot.values + plane * pilot.plane_step,
                  noisy.values + plane * noisy.plane_step,
                  sums + plane * pilot.plane_step,
                  weights + plane * pilot.plane_step,
                  whole,
                  whole + layout.offsets,
                  memory + layout.mean,
                  memory + layout.column,
                  memory + layout.matrices,
                  memory + layout.stage,
                  unit};
    find(g, places + index * most);
    sync();
    if (K == 1) {
      one_member(g);
      return;
    }
    means(g);
    const float c = static_cast<float>(K - 1) * variance;
    const bool by_member = few_members(g.D, K);
    const int size = by_member ? K : g.D, wide = by_member ? 2 * g.K4 : g.D4;
    if (by_member)
      member_products(g);
    else
      value_products(g);
    sync();
    for (int base = 0; base < size; base += kLanes) {
      const Lanes<int> i = lane_index() + base, at = i * (wide + 1);
      store<float>(g.M, at, load<float>(g.M, at, i < size, 0.0F) + c, i < size);
    }
    sync();
    invert_any(g.M, size, wide, g.column);
    const float weight = 1 / (squared_gains(g.M, size, wide, c) + 1);
    add_weights(g, weight);
    if (by_member)
      filter_by_member(g, weight);
    else
      filter_by_value(g, c, weight);
  }

  /// Where the members are, and the values of a patch from its first one.
  GSC_KERNEL void find(const Group& g, const std::int32_t* list) const {
    for (int base = 0; base < g.K; base += kLanes) {
      const Lanes<int> k = lane_index() + base;
      store<std::int32_t>(g.places, k, load<std::int32_t>(list, k, k < g.K, 0), k < g.K);
    }
    for (int base = 0; base < g.D; base += kLanes) {
      const Lanes<int> d = lane_index() + base, row = d / patch;
      store<std::int32_t>(g.offsets, d, select<std::int32_t>(d < g.D, row * pilot.stride + (d - row * patch), 0));
    }
  }

  /// It becomes the pilot's patch, with all the weight.
  GSC_KERNEL void one_member(const Group& g) const {
    for (int first = 0; first < g.D; first += kLanes) {
      const Lanes<int> d = lane_index() + first;
      const Lanes<int> at = load<std::int32_t>(g.offsets, d) + g.places[0];
      const Lanes<float> value = load<float>(g.pilot, at, d < g.D, 0.0F);
      atomic_add(g.sums, at, nearest_integer(value * g.unit), d < g.D);
    }
    add_weights(g, 1);
  }

  GSC_KERNEL void add_weights(const Group& g, float weight) const {
    const Lanes<std::int64_t> whole = nearest_integer(Lanes<float>(weight * kWeightUnit));
    for (int base = 0; base < g.K; base += kLanes) {
      const Lanes<int> k = lane_index() + base;
      atomic_add(g.weights, load<std::int32_t>(g.places, k, k < g.K, 0), whole, k < g.K);
    }
  }

  GSC_KERNEL void means(const Group& g) const {
    for (int first = 0; first < g.D; first += kLanes) {
      const Lanes<int> d = lane_index() + first, offset = load<std::int32_t>(g.offsets, d);
      Lanes<float> sum = 0.0F;
      GSC_UNROLL8
      for (int k = 0; k < g.K; ++k) sum = sum + load<float>(g.pilot, offset + g.places[k], d < g.D, 0.0F);
      store<float>(g.mean, d, sum / Lanes<float>(static_cast<float>(g.K)));
    }
    sync();
  }

  /// 32 values of all members, less their mean, at `to`: value d of member k at (d - first) * d_step + k * k_step. What
  /// lies behind the last value is zero, and so are the members up to K4.
  GSC_KERNEL void read(const Group& g, const float* from_plane, int first, float* to_stage, int d_step, int k_step,
                       int rows) const {
    const Lanes<int> lane = lane_index(), d = lane + first, offset = load<std::int32_t>(g.offsets, d);
    const Lanes<float> mean = load<float>(g.mean, d);
    const Lanes<bool> exists = d < g.D, wanted = lane < rows;
    for (int base = 0; base < g.K4; base += kAtOnce) {
      Lanes<float> values_of[kAtOnce];
      GSC_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const int k = base + i < g.K ? base + i : g.K - 1;
        values_of[i] = load<float>(from_plane, offset + g.places[k], exists, 0.0F) - mean;
      }
      GSC_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const int k = base + i;
        if (k >= g.K4) continue;
        const Lanes<float> value = select<float>(exists && k < g.K, values_of[i], 0.0F);
        store<float>(to_stage, lane * d_step + k * k_step, value, wanted);
      }
    }
  }

  /// M = X'X and, beside it, B = X'Y.
  GSC_KERNEL void member_products(const Group& g) const {
    const int wide = 2 * g.K4, columns = wide / 4, rows = g.K4 / 4, step = LaneBlocks::rows_at_once(columns);
    for (int row = 0; row < rows; row += step) {
      LaneBlocks blocks;
      blocks.deal(row, row + step < rows ? step : rows - row, columns);
      for (int first = 0; first < g.D; first += kLanes) {
        sync();
        read(g, g.pilot, first, g.stage, wide, 1, kLanes);
        read(g, g.noisy, first, g.stage + g.K4, wide, 1, kLanes);
        sync();
        blocks.add(g.stage, wide, g.stage, wide, g.D - first < kLanes ? g.D - first : kLanes);
      }
      blocks.each([&](Lanes<int> i, Lanes<int> j, Lanes<float> value, Lanes<bool> dealt) {
        store<float>(g.M, i * wide + j, value, dealt);
      });
    }
  }

  /// S = M^-1 B in place of B, and z = m + X S.
  GSC_KERNEL void filter_by_member(const Group& g, float weight) const {
    const int wide = 2 * g.K4, blocks_wide = g.K4 / 4, step = LaneBlocks::rows_at_once(blocks_wide);
    float* B = g.M + g.K4;
    LaneBlocks blocks;
    // S' = B' M^-1, so that what is done at once is whole columns of B, which are then no longer needed.
    for (int row = 0; row < blocks_wide; row += step) {
      blocks.deal(row, row + step < blocks_wide ? step : blocks_wide - row, blocks_wide);
      blocks.add(B, wide, g.M, wide, g.K);
      sync();
      blocks.each([&](Lanes<int> i, Lanes<int> j, Lanes<float> value, Lanes<bool> dealt) {
        store<float>(B, j * wide + i, value, dealt);
      });
      sync();
    }
    for (int first = 0; first < g.D; first += kLanes) {
      const int here = g.D - first < kLanes ? g.D - first : kLanes, rows = to_fours(here) / 4;
      read(g, g.pilot, first, g.stage, 1, kLanes, kLanes);
      sync();
      for (int row = 0; row < rows; row += step) {
        blocks.deal(row, row + step < rows ? step : rows - row, blocks_wide);
        blocks.add(g.stage, kLanes, B, wide, g.K);
        sync();
        blocks.each([&](Lanes<int> d, Lanes<int> k, Lanes<float> value, Lanes<bool> dealt) {
          store<float>(g.stage, k * kLanes + d, value, dealt);
        });
        sync();
      }
      give(g, first, g.stage, 1, kLanes, weight);
      sync();
    }
  }

  /// M = XX'.
  GSC_KERNEL void value_products(const Group& g) const {
    const int wide = g.D4, rows = wide / 4, step = LaneBlocks::rows_at_once(rows);
    for (int first = 0; first < g.D; first += kLanes)
      read(g, g.pilot, first, g.stage + first, 1, wide, wide - first < kLanes ? wide - first : kLanes);
    sync();
    for (int row = 0; row < rows; row += step) {
      LaneBlocks blocks;
      blocks.deal(row, row + step < rows ? step : rows - row, rows);
      blocks.add(g.stage, wide, g.stage, wide, g.K);
      blocks.each([&](Lanes<int> i, Lanes<int> j, Lanes<float> value, Lanes<bool> dealt) {
        store<float>(g.M, i * wide + j, value, dealt);
      });
    }
  }

  /// z = m + (y - m) - c M^-1 (y - m), in place of y.
  GSC_KERNEL void filter_by_value(const Group& g, float c, float weight) const {
    const int wide = g.K4, rows = g.K4 / 4, columns = g.D4 / 4, step = LaneBlocks::rows_at_once(columns);
    for (int first = 0; first < g.D; first += kLanes)
      read(g, g.noisy, first, g.stage + static_cast<long>(first) * wide, wide, 1,
           g.D4 - first < kLanes ? g.D4 - first : kLanes);
    sync();
    for (int row = 0; row < rows; row += step) {
      LaneBlocks blocks;
      blocks.deal(row, row + step < rows ? step : rows - row, columns);
      blocks.add(g.stage, wide, g.M, g.D4, g.D);
      sync();
      blocks.each([&](Lanes<int> k, Lanes<int> d, Lanes<float> value, Lanes<bool> dealt) {
        const Lanes<int> at = d * wide + k;
        const Lanes<float> y = load<float>(g.stage, at, dealt, 0.0F);
        store<float>(g.stage, at, multiply_add<float>(0.0F - c, value, y), dealt);
      });
      sync();
    }
    for (int first = 0; first < g.D; first += kLanes)
      give(g, first, g.stage + static_cast<long>(first) * wide, wide, 1, weight);
  }

  /// Adds 32 values of all members, which lie as read() laid them, and their mean to the sums.
  GSC_KERNEL void give(const Group& g, int first, const float* stage, int d_step, int k_step, float weight) const {
    const Lanes<int> lane = lane_index(), d = lane + first, offset = load<std::int32_t>(g.offsets, d);
    const Lanes<bool> exists = d < g.D;
    const Lanes<float> mean = load<float>(g.mean, d), factor = weight * g.unit;
    for (int base = 0; base < g.K; base += kAtOnce) {
      Lanes<float> values_of[kAtOnce];
      GSC_UNROLL
      for (int i = 0; i < kAtOnce; ++i) {
        const int k = base + i < g.K ? base + i : g.K - 1;
        values_of[i] = load<float>(stage, lane * d_step + k * k_step, exists, 0.0F) + mean;
      }
      GSC_UNROLL
      for (int i = 0; i < kAtOnce; ++i)
        if (base + i < g.K)
          atomic_add(g.sums, offset + g.places[base + i], nearest_integer(values_of[i] * factor), exists);
    }
  }

  /// n - 2 trace(c M^-1) + |c M^-1|^2
  GSC_KERNEL float squared_gains(const float* M, int size, int wide, float c) const {
    Lanes<float> trace = 0.0F, square = 0.0F;
    for (int base = 0; base < size; base += kLanes) {
      const Lanes<int> j = lane_index() + base;
      const Lanes<bool> exists = j < size;
      trace = trace + load<float>(M, j * (wide + 1), exists, 0.0F) * c;
      GSC_UNROLL4
      for (int i = 0; i < size; ++i) {
        const Lanes<float> entry = load<float>(M, j + i * wide, exists, 0.0F) * c;
        square = multiply_add<float>(entry, entry, square);
      }
    }
    return static_cast<float>(size) - 2 * warp_sum<float>(trace) + warp_sum<float>(square);
  }
};

}  // namespace gsc::cuda
