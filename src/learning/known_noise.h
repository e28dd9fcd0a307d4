#pragma once
// A noise level that is known (FitOptions::sigma) takes the place of the one the M-step gives:
//
//   sigma_t = sigma (1 + 0.8 (1 - 4 t / T))    in the first quarter of T iterations, then sigma
//
// With more noise than there is, weak and detailed patterns are not told from it, and strong ones are learned first.

#include <gsc/fit.h>

#include <algorithm>

namespace gsc {

/// The variance that is held; 0: none. `iteration` of options.iterations, which may be a fraction within a pass of
/// stepwise EM.
inline double held_variance(const FitOptions& options, double iteration) {
  if (options.sigma == 0) return 0;
  const double done = options.iterations > 0 ? iteration / options.iterations : 1;
  const double level = options.sigma * (1 + 0.8 * std::max(0.0, 1 - 4 * done));
  return level * level;
}

inline void hold_noise(Model& model, const FitOptions& options, double iteration) {
  const double variance = held_variance(options, iteration);
  if (variance > 0) model.noise = Noise::scalar(variance, model.dimensions());
}

}  // namespace gsc
