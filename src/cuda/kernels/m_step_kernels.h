#pragma once
// Kernels of the M-step, in double. The formulas are those of truncated/m_step.cpp, which counts the same rescues;
// latents that nobody uses stay in the equations of W as rows of the identity, so that they keep their columns.

#include "cuda/kernels/model_kernels.h"
#include "cuda/kernels/totals.h"

namespace gsc::cuda {

/// The sums, and how they are to be read: about the means if the intercept is learned with W.
struct StepSums {
  int dimensions, latents;
  double count;
  bool centred;
  const double *s, *m, *y, *YY, *ZZ, *YZ;

  /// Of <(s.z)(s.z)'> between latents h and g.
  GSC_KERNEL Lanes<double> second(long h, Lanes<long> g, Lanes<bool> exists) const {
    const Lanes<double> value = load<double>(ZZ + h * latents, g, exists, 0.0);
    return centred ? value - Lanes<double>(m[h]) * load<double>(m, g, exists, 0.0) / Lanes<double>(count) : value;
  }
  GSC_KERNEL Lanes<double> cross(long d, Lanes<long> h, Lanes<bool> exists) const {
    const Lanes<double> value = load<double>(YZ + d * latents, h, exists, 0.0);
    return centred ? value - Lanes<double>(y[d]) * load<double>(m, h, exists, 0.0) / Lanes<double>(count) : value;
  }
};

/// pi, mu, psi, and which columns of W are learned, by one warp.
struct PriorKernel {
  static constexpr int kWarps = 1, kBlocks = 1;
  StepSums sums;
  const double *old_mu, *old_psi;
  double *pi, *mu, *psi;
  double* diagonal;  ///< of the equations' matrix; 0 where a column is kept
  double* counts;    ///< += unused latents, floored pi, floored slab

  GSC_KERNEL void operator()(const Warp&) const {
    constexpr double kSmallestPi = 1e-7, kRounding = 1e-12;
    Lanes<double> unused = 0.0, floored_pi = 0.0, floored_slab = 0.0;
    const long H = sums.latents;
    const Lanes<double> N = sums.count, zero = 0.0, one = 1.0;
    for (long first = 0; first < H; first += kLanes) {
      const Lanes<long> h = convert<long>(lane_index()) + first;
      const Lanes<bool> exists = h < H;
      const Lanes<double> s = load<double>(sums.s, h, exists, 0.0), m = load<double>(sums.m, h, exists, 0.0);
      const Lanes<double> ZZ = load<double>(sums.ZZ, h * (H + 1), exists, 0.0);
      const Lanes<bool> used = s > Lanes<double>(kSmallestPi) * N && ZZ > zero;
      unused = unused + select<double>(exists && !used, one, zero);

      const Lanes<double> p = s / N;
      const Lanes<double> kept = smaller<double>(larger<double>(p, kSmallestPi), 1 - kSmallestPi);
      floored_pi = floored_pi + select<double>(exists && kept != p, one, zero);
      store<double>(pi, h, kept, exists);

      const Lanes<double> share = select<double>(used, s, one), second = ZZ / share, mean = m / share;
      const Lanes<double> variance = second - mean * mean;
      const Lanes<double> floor = larger<double>(Lanes<double>(kRounding) * second, 1e-300);
      const Lanes<bool> lost = !(variance >= floor);
      floored_slab = floored_slab + select<double>(exists && used && lost, one, zero);
      store<double>(mu, h, select<double>(used, mean, load<double>(old_mu, h, exists, 0.0)), exists);
      store<double>(psi, h,
                    select<double>(used, select<double>(lost, floor, variance), load<double>(old_psi, h, exists, 1.0)),
                    exists);
      // A latent that is always on, always alike, is what the intercept is, too.
      const Lanes<double> about = sums.centred ? ZZ - m * m / N : ZZ;
      store<double>(diagonal, h, select<double>(used && about > Lanes<double>(kRounding) * ZZ, about, zero), exists);
    }
    const double found[3] = {warp_sum<double>(unused), warp_sum<double>(floored_pi), warp_sum<double>(floored_slab)};
    const Lanes<int> lane = lane_index();
    const Lanes<double> mine = select<double>(lane == 0, found[0], select<double>(lane == 1, found[1], found[2]));
    store<double>(counts, lane, load<double>(counts, lane, lane < 3, 0.0) + mine, lane < 3);
  }
};

/// The equations W A = B on the columns that are learned, the others' share taken off, with a ridge that pulls towards
/// the old W. Both padded as Cholesky wants them: rows of A, and of the sums about the means, then of B.
struct SystemKernel {
  static constexpr int kWarps = 4, kBlocks = 4;
  StepSums sums;
  long wide;  ///< of A and B
  double ridge;
  const double *W, *diagonal;
  double *A, *ZZ, *B;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long D = sums.dimensions, H = sums.latents;
    const Piece at = piece_of(warp, wide);
    const Lanes<long> g = at.column;
    const Lanes<bool> exists = g < H;
    const Lanes<double> own = load<double>(diagonal, g, exists, 0.0);
    const Lanes<bool> learned = own > Lanes<double>(0.0);
    if (at.row < wide) {
      const long h = at.row;
      const Lanes<bool> on_diagonal = g == h;
      Lanes<double> value = select<double>(on_diagonal, 1.0, 0.0);
      if (h < H) {
        const Lanes<double> second = sums.second(h, g, exists);
        store<double>(ZZ + h * H, g, second, exists);
        const Lanes<double> ridged = second + select<double>(on_diagonal, Lanes<double>(ridge) * own, 0.0);
        if (diagonal[h] > 0) value = select<double>(learned, ridged, value);
      }
      store<double>(A + h * wide, g, value);
      return;
    }
    const long d = at.row - wide;
    if (d >= D) return store<double>(B + d * wide, g, Lanes<double>(0.0));
    const Lanes<double> old = load<double>(W + d * H, g, exists, 0.0);
    Lanes<double> right = sums.cross(d, g, exists);
    for (long first = 0; first < H; first += kLanes) {
      const Lanes<long> k = convert<long>(lane_index()) + first;
      const Lanes<bool> is_kept = k < H && load<double>(diagonal, k, k < H, 1.0) == Lanes<double>(0.0);
      for (std::uint32_t bits = ballot(is_kept); bits != 0; bits &= bits - 1) {
        const long latent = first + lowest_bit(bits);
        right = right - Lanes<double>(W[d * H + latent]) * sums.second(latent, g, exists);
      }
    }
    right = multiply_add<double>(Lanes<double>(ridge) * old, own, right);
    store<double>(B + d * wide, g, select<double>(learned, right, old));
  }
};

/// A row of W each: the row's share of N Sigma (its diagonal) given W ZZ, and the intercept.
struct ResidualKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  StepSums sums;
  const double *W, *WZZ;
  const double* old_intercept;  ///< null: the intercept stays as it is
  double *residual, *intercept;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long H = sums.latents, d = warp.index;
    Lanes<double> products = 0.0, explained = 0.0;
    for (long first = 0; first < H; first += kLanes) {
      const Lanes<long> h = convert<long>(lane_index()) + first;
      const Lanes<bool> exists = h < H;
      const Lanes<double> w = load<double>(W + d * H, h, exists, 0.0);
      const Lanes<double> difference =
          load<double>(WZZ + d * H, h, exists, 0.0) - Lanes<double>(2.0) * sums.cross(d, h, exists);
      products = multiply_add<double>(difference, w, products);
      explained = multiply_add<double>(w, load<double>(sums.m, h, exists, 0.0), explained);
    }
    const Lanes<bool> writer = lane_index() == 0;
    if (residual != nullptr) {
      const double level = sums.centred ? sums.y[d] * (sums.y[d] / sums.count) : 0;
      const double value = sums.YY[d] - level + warp_sum<double>(products);
      store<double>(residual + d, lane_index(), Lanes<double>(value), writer);
    }
    if (old_intercept == nullptr) return;
    const double moved = old_intercept[d] + (sums.y[d] - warp_sum<double>(explained)) / sums.count;
    store<double>(intercept + d, lane_index(), Lanes<double>(moved), writer);
  }
};

/// Scalar or diagonal noise from the diagonal of N Sigma, by one warp: variances, precisions, log|Sigma|.
struct NoiseKernel {
  static constexpr int kWarps = 1, kBlocks = 1;
  int dimensions;
  bool scalar;
  double count;
  double known;  ///< a variance that takes the place of what is found; 0: none
  const double *YY, *residual;
  double *variance, *precision, *log_determinant;
  double* floored;  ///< += how many variances were held above their floor

  GSC_KERNEL void operator()(const Warp&) const {
    const int D = dimensions;
    Lanes<double> power = 0.0, total = 0.0;
    for (int first = 0; first < D; first += kLanes) {
      const Lanes<int> d = lane_index() + first;
      power = power + load<double>(YY, d, d < D, 0.0);
      total = total + load<double>(residual, d, d < D, 0.0) / Lanes<double>(count);
    }
    const double share = 1e-12 * (warp_sum<double>(power) / (count * D)), floor = share > 1e-300 ? share : 1e-300;
    const double mean = warp_sum<double>(total) / D;
    Lanes<double> lost = 0.0, logarithms = 0.0;
    for (int first = 0; first < D; first += kLanes) {
      const Lanes<int> d = lane_index() + first;
      const Lanes<bool> exists = d < D;
      Lanes<double> value = load<double>(residual, d, exists, 1.0) / Lanes<double>(count);
      if (scalar) value = mean;
      const Lanes<bool> low = !(value >= Lanes<double>(floor));
      lost = lost + select<double>(exists && low && (Lanes<bool>(!scalar) || d == 0), 1.0, 0.0);
      value = select<double>(low, floor, value);
      if (known > 0) value = known;
      store<double>(variance, d, value, exists);
      store<double>(precision, d, Lanes<double>(1.0) / value, exists);
      logarithms = logarithms + select<double>(exists, logarithm(value), 0.0);
    }
    const Lanes<bool> writer = lane_index() == 0;
    store<double>(log_determinant, lane_index(), Lanes<double>(warp_sum<double>(logarithms)), writer);
    store<double>(floored, lane_index(), Lanes<double>(floored[0] + warp_sum<double>(lost)), writer);
  }
};

/// W ZZ - 2 YZ, for full noise, in place of W ZZ.
struct DifferenceKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  StepSums sums;
  double* WZZ;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const Piece at = piece_of(warp, sums.latents);
    double* row = WZZ + at.row * sums.latents;
    const Lanes<double> value = load<double>(row, at.column, at.exists, 0.0);
    store<double>(row, at.column, value - Lanes<double>(2.0) * sums.cross(at.row, at.column, at.exists), at.exists);
  }
};

}  // namespace gsc::cuda
