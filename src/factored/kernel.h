#pragma once
// The inner loop of a factored sweep, compiled for every SIMD target.

#include "factored/model.h"

namespace gsc {

/// Doubles in the widest vector.
inline constexpr Index kFactoredPadding = 8;

/// Sweeps go on until no code moves by more than this, in standard deviations of a code; and no longer than so.
inline constexpr double kFactoredStill = 1e-7;
inline constexpr int kMostFactoredSweeps = 2000;

/// Consecutive latents of a block of data points. Arrays are latents x stride: the points of one latent together, the
/// stride a multiple of kFactoredPadding.
struct FactoredRun {
  Index first, count;  ///< latents, by position in the sweep
  Index points, stride;
  double* x;    ///< in and out, from latent `first` on
  double* eta;  ///< in: W_h'P(y - W x) at the x that comes in; destroyed
  // Of each point: local_h is added to `local`; and either gamma, <(s_h z_h)^2> and the largest change of x so far, in
  // units of 1/sqrt(A), or, if gamma is null, sums of the first two over the points, added to those of each latent.
  double* local;
  double *gamma, *second, *change;
  double *sum_gamma, *sum_second;
};

/// Updates the latents one after the other, each given the others.
void run_factored(const FactoredModel& model, const FactoredRun& run);

}  // namespace gsc
