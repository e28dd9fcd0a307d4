#pragma once
// From the parameters of a model, in double, to what the E-step needs of them. The formulas are those of
// truncated/tree/prepared_model.h; here delta = origin - intercept is part of eta's offset, as Y is the data less the
// origin.

#include "cuda/queue/warp.h"

namespace gsc::cuda {

/// 32 entries of a row of a table, which a warp has.
struct Piece {
  long row;
  Lanes<long> column;
  Lanes<bool> exists;
};
GSC_BOTH constexpr long piece_count(long rows, long columns) { return rows * ((columns + kLanes - 1) / kLanes); }
GSC_KERNEL Piece piece_of(const Warp& warp, long columns) {
  const long groups = (columns + kLanes - 1) / kLanes;
  const Lanes<long> column = convert<long>(lane_index()) + warp.index % groups * kLanes;
  return {warp.index / groups, column, column < columns};
}

/// P W for a diagonal P.
struct PrecisionKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int latents;
  const double *precision, *W;
  double* PW;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const Piece at = piece_of(warp, latents);
    const Lanes<double> value = load<double>(W + at.row * latents, at.column, at.exists, 0.0);
    store<double>(PW + at.row * latents, at.column, value * Lanes<double>(precision[at.row]), at.exists);
  }
};

/// What a latent has of its own: t, eta's offset, a, a - logit pi; one behind the other.
struct LatentKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int dimensions, latents;
  const double *PW, *G, *pi, *mu, *psi, *origin;
  const double* intercept;  ///< or null
  double* vectors;          ///< 4 x H

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long H = latents;
    const Piece at = piece_of(warp, H);
    const Lanes<long> h = at.column;
    const Lanes<double> one = 1.0, variance = load<double>(psi, h, at.exists, 1.0);
    const Lanes<double> mean = load<double>(mu, h, at.exists, 0.0), p = load<double>(pi, h, at.exists, 0.5);
    const Lanes<double> J = load<double>(G, h * (H + 1), at.exists, 0.0) + one / variance, t = inverse_root(J);
    const Lanes<double> mean_over_variance = mean / variance;
    const Lanes<double> half = 0.5,
                        score = Lanes<double>(0.0) - half * logarithm(variance * J) - half * mean * mean_over_variance;
    Lanes<double> moved = 0.0;
    for (int d = 0; d < dimensions; ++d) {
      const double delta = intercept != nullptr ? origin[d] - intercept[d] : origin[d];
      moved = multiply_add<double>(load<double>(PW + d * H, h, at.exists, 0.0), delta, moved);
    }
    store<double>(vectors, h, t, at.exists);
    store<double>(vectors + H, h, t * (mean_over_variance + moved), at.exists);
    store<double>(vectors + 2 * H, h, score + logarithm(p / (one - p)), at.exists);
    store<double>(vectors + 3 * H, h, score, at.exists);
  }
};

/// sum_h log(1 - pi_h) - 1/2 (D log 2 pi + log|Sigma|), by one warp.
struct ConstantKernel {
  static constexpr int kWarps = 1, kBlocks = 1;
  int dimensions, latents;
  const double *pi, *log_determinant;
  double* constant;

  GSC_KERNEL void operator()(const Warp&) const {
    constexpr double kLogTwoPi = 1.8378770664093454836;
    Lanes<double> sum = 0.0;
    for (int first = 0; first < latents; first += kLanes) {
      const Lanes<int> h = lane_index() + first;
      sum = sum + logarithm(Lanes<double>(1.0) - load<double>(pi, h, h < latents, 0.0));
    }
    const double value = warp_sum<double>(sum) - 0.5 * (dimensions * kLogTwoPi + log_determinant[0]);
    store<double>(constant, lane_index(), Lanes<double>(value), lane_index() == 0);
  }
};

/// What the E-step's kernels read, in their precision, padded with latents that are never active: rows of the
/// projection, rows of J, then what latents have of their own.
template <class Real>
struct ModelRowsKernel {
  static constexpr int kWarps = 4, kBlocks = 8;
  int dimensions, latents, stride;
  const double *PW, *G, *vectors;
  Real *projection, *J, *eta_offset, *a;
  float *J_single, *score_offset;

  GSC_KERNEL void operator()(const Warp& warp) const {
    const long D = dimensions, H = latents;
    const Piece at = piece_of(warp, stride);
    const Lanes<bool> real = at.column < H;
    const Lanes<double> t = load<double>(vectors, at.column, real, 0.0);
    if (at.row < D) {
      const Lanes<double> value = load<double>(PW + at.row * H, at.column, real, 0.0) * t;
      store<Real>(projection + at.row * stride, at.column, convert<Real>(value));
    } else if (at.row < D + H) {
      // Symmetric by construction, so that the order in which a state's latents are visited does not matter.
      const long h = at.row - D;
      const Lanes<double> both =
          load<double>(G + h * H, at.column, real, 0.0) + load<double>(G + h, at.column * H, real, 0.0);
      const Lanes<double> value =
          select<double>(at.column == h, 1.0, Lanes<double>(0.5) * both * (t * Lanes<double>(vectors[h])));
      store<Real>(J + h * stride, at.column, convert<Real>(value));
      store<float>(J_single + h * stride, at.column, convert<float>(value));
    } else {
      constexpr double kInert = -1e30;
      store<Real>(eta_offset, at.column, convert<Real>(load<double>(vectors + H, at.column, real, 0.0)));
      store<Real>(a, at.column, convert<Real>(load<double>(vectors + 2 * H, at.column, real, kInert)));
      store<float>(score_offset, at.column, convert<float>(load<double>(vectors + 3 * H, at.column, real, kInert)));
    }
  }
};

}  // namespace gsc::cuda
