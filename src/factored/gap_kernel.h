#pragma once
// A factored sweep over data points with gaps, compiled for every SIMD target.

#include "factored/model.h"

namespace gsc {

/// So many data points go through a sweep together: their residuals stay in the first-level cache.
inline constexpr Index kFactoredGapChunk = 16;

/// Up to kFactoredGapChunk data points of a block: all arrays begin with the first of them. Rows, of latents or of
/// dimensions, are `stride` apart and padded as in FactoredRun.
struct FactoredGapRun {
  Index points, stride;
  double* x;                         ///< latents: in and out
  const double *own, *tau2, *logit;  ///< latents: G_hh, tau_h^2, logit of gamma_h where e_h is zero
  double* residual;                  ///< dimensions: in and out, zero where missing
  const double* observed;            ///< dimensions: 1 or 0
  double *gamma, *second;            ///< latents: out
  double *local, *change;  ///< one row, out: sum_h local_h; the largest change of x_h in units of FactoredLatent
};

/// Updates every latent once, each given the others.
void run_factored_gaps(const FactoredModel& model, const FactoredGapRun& run);

}  // namespace gsc
