#pragma once
// X = B A^-1 for a symmetric positive definite A, in blocks of 32 columns: two kernels a block, so that many warps have
// something to do and little time passes between them. With A = L L', the rows of
//
//   ( A )          ( L      )
//   ( B )  become  ( B L^-T )         and X = (B L^-T) (L^-T)' is one product of matrices
//   ( I )          ( L^-T   )
//
// For each block of columns j, PanelKernel divides the rows below by the diagonal block, and UpdateKernel takes off
// their products from the columns to come:  M_ij <- M_ij L_jj^-T,   M_ik <- M_ik - M_ij M_kj'  for k > j.

#include "cuda/queue/warp.h"

namespace gsc::cuda {

/// A table in tiles of 32 x 32; `wide` numbers from row to row.
struct Tiles {
  double* values;
  long wide;
  GSC_KERNEL double* at(long row, long column) const { return values + (row * wide + column) * kLanes; }
};

/// The stacked tables, in blocks: A (blocks x blocks), B (right x blocks), I, of which T becomes L^-T.
struct StackedTables {
  Tiles A, B, T;
  int blocks, right;

  /// How many blocks of rows step j works on: those of A below it, those of B, and the first j+1 of T.
  GSC_BOTH long count(int j) const { return blocks - j - 1 + right + j + 1; }
  /// Block (i, k) of them.
  GSC_KERNEL double* tile(long i, long k, int j) const {
    const long below = blocks - j - 1;
    if (i < below) return A.at(j + 1 + i, k);
    return i < below + right ? B.at(i - below, k) : T.at(i - below - right, k);
  }
};

/// A block of rows each. The diagonal block is factorised by every warp anew: that is quicker than to wait for one.
struct PanelKernel {
  static constexpr int kWarps = 2, kBlocks = 1;
  StackedTables stack;
  int j;
  double* failed;  ///< 1 if a pivot is not positive

  GSC_KERNEL void operator()(const Warp& warp) const {
    const Lanes<long> lane = convert<long>(lane_index());
    const double* diagonal = stack.A.at(j, j);
    double* own = stack.tile(warp.index, j, j);
    const bool unit = warp.index == stack.count(j) - 1;  // the block of I on the diagonal
    Lanes<double> L[kLanes], x[kLanes];
    GSC_UNROLL
    for (int q = 0; q < kLanes; ++q) {
      L[q] = load<double>(diagonal, lane * stack.A.wide + static_cast<long>(q));
      const Lanes<double> identity = select<double>(lane == static_cast<long>(q), 1.0, 0.0);
      x[q] = unit ? identity : load<double>(own, lane * stack.A.wide + static_cast<long>(q));
    }
    bool positive = true;
    GSC_UNROLL
    for (int k = 0; k < kLanes; ++k) {
      const double pivot = broadcast(L[k], k);
      positive = positive && pivot > 0;
      const Lanes<double> root = inverse_root(Lanes<double>(pivot > 0 ? pivot : 1.0));
      L[k] = L[k] * root;
      x[k] = x[k] * root;
      GSC_UNROLL
      for (int i = k + 1; i < kLanes; ++i) {
        const Lanes<double> factor = Lanes<double>(0.0) - Lanes<double>(broadcast(L[k], i));
        L[i] = multiply_add<double>(L[k], factor, L[i]);
        x[i] = multiply_add<double>(x[k], factor, x[i]);
      }
    }
    GSC_UNROLL
    for (int q = 0; q < kLanes; ++q) store<double>(own, lane * stack.A.wide + static_cast<long>(q), x[q]);
    if (unit && !positive) store<double>(failed, lane_index(), Lanes<double>(1.0), lane_index() == 0);
  }
};

/// A tile each. Of A only the lower half is needed.
struct UpdateKernel {
  static constexpr int kWarps = 4, kBlocks = 2;
  StackedTables stack;
  int j;

  static constexpr std::size_t kScratch = sizeof(double) * kLanes * kLanes;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long columns = stack.blocks - j - 1, i = warp.index / columns, k = warp.index % columns;
    if (i < columns && i < k) return;
    const long wide = stack.A.wide;
    const Lanes<long> lane = convert<long>(lane_index());
    const double *left = stack.tile(i, j, j), *right = stack.A.at(j + 1 + k, j);
    double* target = stack.tile(i, j + 1 + k, j);
    double* rows = reinterpret_cast<double*>(warp.scratch);
    GSC_UNROLL8
    for (int r = 0; r < kLanes; ++r) store<double>(rows + r * kLanes, lane, load<double>(left + r * wide, lane));
    sync();
    Lanes<double> column[kLanes];
    GSC_UNROLL
    for (int q = 0; q < kLanes; ++q) column[q] = load<double>(right, lane * wide + static_cast<long>(q));
    for (int r = 0; r < kLanes; ++r) {
      Lanes<double> sum = 0.0;
      GSC_UNROLL
      for (int q = 0; q < kLanes; ++q) sum = multiply_add<double>(rows[r * kLanes + q], column[q], sum);
      store<double>(target + r * wide, lane, load<double>(target + r * wide, lane) - sum);
    }
  }
};

}  // namespace gsc::cuda
