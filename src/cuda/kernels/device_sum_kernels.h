#pragma once
// Kernels of device_sums.h and, with full noise, of the free energy.

#include "cuda/kernels/model_kernels.h"
#include "cuda/kernels/totals.h"

namespace gsc::cuda {

/// Sums that have a column a latent: rows of ZZ, of YZ, of MM if there are, then s and m.
struct LatentSumsKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int dimensions, latents;
  Totals totals;
  const double *scale, *origin;
  const double* intercept;  ///< or null
  double *s, *m, *ZZ, *YZ, *MM;

  static long rows(long D, long H, bool mean_products) { return H + D + (mean_products ? H : 0) + 1; }

  /// Entry (row, column) of a table of symmetric sums, both halves from the upper one.
  GSC_KERNEL Lanes<double> symmetric(const double* table, long row, Lanes<long> column, Lanes<bool> exists) const {
    const Lanes<long> high = larger<long>(column, row), low = smaller<long>(column, row);
    return load<double>(table, low * static_cast<long>(totals.stride) + high, exists, 0.0);
  }

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long D = dimensions, H = latents, stride = totals.stride;
    const Piece at = piece_of(warp, H);
    const Lanes<long> h = at.column;
    const Lanes<double> t = load<double>(scale, h, at.exists, 0.0);
    if (at.row < H) {
      const long row = at.row;
      const Lanes<double> alone = load<double>(totals.singletons + 2 * stride, h, at.exists && h == row, 0.0);
      const Lanes<double> value = symmetric(totals.ZZ, row, h, at.exists) + alone;
      store<double>(ZZ + row * H, h, value * (t * Lanes<double>(scale[row])), at.exists);
      return;
    }
    const Lanes<double> mean = t * (load<double>(totals.candidates + stride, h, at.exists, 0.0) +
                                    load<double>(totals.singletons + stride, h, at.exists, 0.0));
    if (at.row < H + D) {
      const long d = at.row - H;
      const Lanes<double> delta = intercept != nullptr ? origin[d] - intercept[d] : origin[d];
      const Lanes<double> value = load<double>(totals.YZ + d * stride, h, at.exists, 0.0) * t;
      store<double>(YZ + d * H, h, multiply_add<double>(delta, mean, value), at.exists);
    } else if (totals.MM != nullptr && at.row < 2 * H + D) {
      const long row = at.row - H - D;
      const Lanes<double> value = symmetric(totals.MM, row, h, at.exists);
      store<double>(MM + row * H, h, value * (t * Lanes<double>(scale[row])), at.exists);
    } else {
      const Lanes<double> sum =
          load<double>(totals.candidates, h, at.exists, 0.0) + load<double>(totals.singletons, h, at.exists, 0.0);
      store<double>(s, h, sum, at.exists);
      store<double>(m, h, mean, at.exists);
    }
  }
};

/// Sums of the data alone: with `full` a row of YY each, else YY's diagonal; the first row has y as well.
struct DataSumsKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int dimensions;
  Totals totals;
  double count;
  const double* origin;
  const double* intercept;  ///< or null
  double *y, *YY;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long D = dimensions;
    const Piece at = piece_of(warp, D);
    const Lanes<long> d = at.column;
    Lanes<double> delta = load<double>(origin, d, at.exists, 0.0);
    if (intercept != nullptr) delta = delta - load<double>(intercept, d, at.exists, 0.0);
    const Lanes<double> Y = load<double>(totals.columns, d, at.exists, 0.0);
    const Lanes<double> moved = Lanes<double>(count) * delta;
    if (at.row == 0) store<double>(y, d, Y + moved, at.exists);
    if (totals.YY == nullptr) {
      const Lanes<double> squares = load<double>(totals.columns + D, d, at.exists, 0.0);
      store<double>(YY, d, squares + (Lanes<double>(2.0) * delta * Y + moved * delta), at.exists);
      return;
    }
    const long row = at.row;
    const Lanes<double> row_delta = intercept != nullptr ? origin[row] - intercept[row] : origin[row];
    const Lanes<double> row_Y = totals.columns[row];
    const Lanes<double> both =
        load<double>(totals.YY + row * D, d, at.exists, 0.0) + load<double>(totals.YY + row, d * D, at.exists, 0.0);
    const Lanes<double> cross = row_delta * Y + row_Y * delta, level = Lanes<double>(count) * (row_delta * delta);
    store<double>(YY + row * D, d, Lanes<double>(0.5) * both + (cross + level), at.exists);
  }
};

/// The product of two tables, entry by entry, summed over each row: a warp has a row.
struct RowDotKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  long columns;
  const double *one, *other;
  double* sums;

  GSC_KERNEL void operator()(const Warp& warp) const {
    Lanes<double> sum = 0.0;
    for (long first = 0; first < columns; first += kLanes) {
      const Lanes<long> at = convert<long>(lane_index()) + first;
      const Lanes<bool> exists = at < columns;
      sum = multiply_add<double>(load<double>(one + warp.index * columns, at, exists, 0.0),
                                 load<double>(other + warp.index * columns, at, exists, 0.0), sum);
    }
    store<double>(sums + warp.index, lane_index(), Lanes<double>(warp_sum<double>(sum)), lane_index() == 0);
  }
};

/// RowNumbers, by one warp: F = sum of log sums + N constant - 1/2 trace(P YY).
struct NumbersKernel {
  static constexpr int kWarps = 1, kBlocks = 1;
  int dimensions, variance_step;  ///< from variance to variance
  double count;
  const double *scalars, *constant, *weighted, *variance, *rescues;
  double* numbers;

  GSC_KERNEL void operator()(const Warp&) const {
    Lanes<double> sum = 0.0, noise = 0.0;
    for (int first = 0; first < dimensions; first += kLanes) {
      const Lanes<int> d = lane_index() + first;
      sum = sum + load<double>(weighted, d, d < dimensions, 0.0);
      noise = noise + load<double>(variance, d * variance_step, d < dimensions, 0.0);
    }
    const double free_energy = scalars[0] + (count * constant[0] - 0.5 * warp_sum<double>(sum));
    const Lanes<int> lane = lane_index();
    Lanes<double> mine = load<double>(scalars, lane, lane < 3, 0.0);
    mine = select<double>(lane == 0, Lanes<double>(free_energy), mine);
    mine = mine + load<double>(rescues, lane - 3, lane >= 3 && lane < 3 + kRescueCounts, 0.0);
    constexpr int kLast = 3 + kRescueCounts;
    mine = select<double>(lane == kLast, Lanes<double>(warp_sum<double>(noise) / dimensions), mine);
    store<double>(numbers, lane, mine, lane <= kLast);
  }
};

/// to = keep to + weight from.
struct BlendKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  long size;
  double keep, weight;
  double* to;
  const double* from;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const Piece at = piece_of(warp, size);
    const Lanes<double> old = load<double>(to, at.column, at.exists, 0.0);
    const Lanes<double> fresh = load<double>(from, at.column, at.exists, 0.0);
    store<double>(to, at.column, Lanes<double>(keep) * old + Lanes<double>(weight) * fresh, at.exists);
  }
};

/// y -> y - step in all sums that have y: rows of YZ, then those of YY (one of its diagonal), then y itself.
struct MoveKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int dimensions, latents;
  bool full;
  double count;
  const double *before, *after;  ///< intercepts
  const double *m, *y;
  double *YZ, *YY, *moved_y;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long D = dimensions, H = latents, wide = H > D ? H : D;
    const Piece piece = piece_of(warp, wide);
    const Lanes<long> at = piece.column;
    if (piece.row < D) {
      const Lanes<bool> exists = at < H;
      const Lanes<double> step = after[piece.row] - before[piece.row];
      const Lanes<double> value = load<double>(YZ + piece.row * H, at, exists, 0.0);
      store<double>(YZ + piece.row * H, at, value - step * load<double>(m, at, exists, 0.0), exists);
      return;
    }
    const Lanes<bool> exists = at < D;
    const Lanes<double> step = load<double>(after, at, exists, 0.0) - load<double>(before, at, exists, 0.0);
    const Lanes<double> sum = load<double>(y, at, exists, 0.0), N = count;
    const long row = piece.row - D;
    if (row == (full ? D : 1)) {
      store<double>(moved_y, at, sum - N * step, exists);
      return;
    }
    Lanes<double> cross = Lanes<double>(2.0) * (step * sum), square = step * step;
    if (full) {
      const Lanes<double> row_step = after[row] - before[row], row_sum = y[row];
      cross = row_step * sum + row_sum * step;
      square = row_step * step;
    }
    const Lanes<double> old = load<double>(YY + row * D, at, exists, 0.0);
    store<double>(YY + row * D, at, old + (N * square - cross), exists);
  }
};

}  // namespace gsc::cuda
