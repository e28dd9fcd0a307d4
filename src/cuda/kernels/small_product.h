#pragma once
// Products and inverses of small matrices of floats in a warp's shared memory.

#include "cuda/queue/warp.h"

namespace gsc::cuda {

GSC_BOTH constexpr int to_fours(int value) { return (value + 3) / 4 * 4; }

/// Entries of C = A' B, in blocks of 4 x 4 that are dealt to the lanes, up to kPasses a lane. A and B have an inner
/// index, which counts their rows, and rows of a multiple of four numbers.
struct LaneBlocks {
  static constexpr int kPasses = 4;
  static constexpr int kMost = kPasses * kLanes;  // blocks

  Lanes<float> sums[kPasses][16];
  Lanes<int> row[kPasses], col[kPasses];  ///< of C, of a block's first entry
  int blocks;

  /// Rows of blocks that can be dealt at once.
  static GSC_BOTH constexpr int rows_at_once(int columns) { return columns < kMost ? kMost / columns : 1; }

  /// So many rows of blocks, from one on, with so many columns of blocks: all zero.
  GSC_KERNEL void deal(int first, int rows, int columns) {
    blocks = rows * columns;
    const int reciprocal = 65536 / columns + 1;  // t / columns is exact for t < 128
    GSC_UNROLL
    for (int pass = 0; pass < kPasses; ++pass) {
      const Lanes<int> at = lane_index() + pass * kLanes, t = select<int>(at < blocks, at, 0);
      const Lanes<int> r = (t * reciprocal) >> 16;
      row[pass] = (r + first) * 4;
      col[pass] = (t - r * columns) * 4;
      GSC_UNROLL
      for (int i = 0; i < 16; ++i) sums[pass][i] = 0.0F;
    }
  }

  /// C += A' B over so many rows of both.
  GSC_KERNEL void add(const float* A, int A_wide, const float* B, int B_wide, int inner) {
    if (blocks > 3 * kLanes)
      add_passes<4>(A, A_wide, B, B_wide, inner);
    else if (blocks > 2 * kLanes)
      add_passes<3>(A, A_wide, B, B_wide, inner);
    else if (blocks > kLanes)
      add_passes<2>(A, A_wide, B, B_wide, inner);
    else
      add_passes<1>(A, A_wide, B, B_wide, inner);
  }

  /// Calls give(row, column, value, whether there is such an entry) for all entries.
  template <class Give>
  GSC_KERNEL void each(const Give& give) const {
    GSC_UNROLL
    for (int pass = 0; pass < kPasses; ++pass) {
      if (pass * kLanes >= blocks) continue;
      const Lanes<bool> dealt = lane_index() + pass * kLanes < blocks;
      GSC_UNROLL
      for (int i = 0; i < 16; ++i) give(row[pass] + i / 4, col[pass] + i % 4, sums[pass][i], dealt);
    }
  }

 private:
  template <int kCount>
  GSC_KERNEL void add_passes(const float* A, int A_wide, const float* B, int B_wide, int inner) {
    GSC_UNROLL2
    for (int i = 0; i < inner; ++i) {
      GSC_UNROLL
      for (int pass = 0; pass < kCount; ++pass) {
        Lanes<float> a[4], b[4];
        load4(A, row[pass] + i * A_wide, a);
        load4(B, col[pass] + i * B_wide, b);
        GSC_UNROLL
        for (int r = 0; r < 4; ++r) {
          GSC_UNROLL
          for (int c = 0; c < 4; ++c) sums[pass][r * 4 + c] = multiply_add<float>(a[r], b[c], sums[pass][r * 4 + c]);
        }
      }
    }
  }
};

/// M = M^-1 by Gauss and Jordan, in place; M is positive definite, so its pivots are. `column` has room for a multiple
/// of four numbers, and M has as many rows. kChunks: columns that a lane looks after.
template <int kChunks>
GSC_KERNEL void invert(float* M, int size, int wide, float* column) {
  for (int k = 0; k < size; ++k) {
    const float inverse = 1 / M[k * wide + k];
    Lanes<float> of_row[kChunks], of_column[kChunks];
    GSC_UNROLL
    for (int q = 0; q < kChunks; ++q) {
      const Lanes<int> j = lane_index() + q * kLanes;
      of_row[q] = select<float>(j == k, inverse, load<float>(M, j + k * wide, j < size, 0.0F) * inverse);
      of_column[q] = select<float>(j == k, 1.0F, Lanes<float>(0.0F) - load<float>(M, j * wide + k, j < size, 0.0F));
    }
    sync();
    // Row and column k are zero for a moment: then one formula does for all entries.
    GSC_UNROLL
    for (int q = 0; q < kChunks; ++q) {
      const Lanes<int> j = lane_index() + q * kLanes;
      store<float>(column, j, of_column[q], j < to_fours(size));
      store<float>(M, j * wide + k, Lanes<float>(0.0F), j < size);
      store<float>(M, j + k * wide, Lanes<float>(0.0F), j < size);
    }
    sync();
    for (int i = 0; i < size; i += 4) {  // four rows at a time, so that none waits for the one before
      Lanes<float> values[4][kChunks];
      GSC_UNROLL
      for (int r = 0; r < 4; ++r) {
        GSC_UNROLL
        for (int q = 0; q < kChunks; ++q) {
          const Lanes<int> j = lane_index() + q * kLanes;
          values[r][q] = load<float>(M, j + (i + r) * wide, j < size, 0.0F);
        }
      }
      GSC_UNROLL
      for (int r = 0; r < 4; ++r) {
        const Lanes<float> factor = column[i + r];
        GSC_UNROLL
        for (int q = 0; q < kChunks; ++q) values[r][q] = multiply_add<float>(factor, of_row[q], values[r][q]);
      }
      GSC_UNROLL
      for (int r = 0; r < 4; ++r) {
        GSC_UNROLL
        for (int q = 0; q < kChunks; ++q) {
          const Lanes<int> j = lane_index() + q * kLanes;
          store<float>(M, j + (i + r) * wide, values[r][q], j < size);
        }
      }
    }
    sync();
  }
}

inline constexpr int kMostInverted = 4 * kLanes;

GSC_KERNEL void invert_any(float* M, int size, int wide, float* column) {
  if (size > 3 * kLanes)
    invert<4>(M, size, wide, column);
  else if (size > 2 * kLanes)
    invert<3>(M, size, wide, column);
  else if (size > kLanes)
    invert<2>(M, size, wide, column);
  else
    invert<1>(M, size, wide, column);
}

}  // namespace gsc::cuda
