#pragma once
// What kernels of a pass over the data leave behind for those that come after it.

namespace gsc::cuda {

/// Where a pass left its sums: of Y, in scaled units, `stride` from row to row of what has a column a latent.
struct Totals {
  int stride;
  const double* scalars;     ///< sum of log sums, data points left undone, data points with a lost pivot
  const double* singletons;  ///< 3 x stride: s, m, second moments of the latents outside the candidates
  const double* candidates;  ///< 2 x stride: s, m
  const double* columns;     ///< 2 x D: sum Y, sum Y.Y
  const double *ZZ, *YZ;
  const double* YY;  ///< D x D, or null
  const double* MM;  ///< or null
};

/// What the M-step counts on the device: unused latents, then floors of pi, slab and noise.
inline constexpr int kRescueCounts = 4;

}  // namespace gsc::cuda
