#pragma once
// What is kept of a Gibbs chain's draws once it has found its place: means, and how far draws lie from them.

#include <gsc/fit.h>

#include <string>
#include <vector>

#include "beta_process/beta_process.h"

namespace gsc {

/// Mean and variance of numbers that come one after the other (Welford).
struct RunningMean {
  double count = 0, mean = 0, squares = 0;  ///< squares: sum of squared distances from the mean
  void add(double value) {
    count += 1;
    const double before = value - mean;
    mean += before / count;
    squares += before * (value - mean);
  }
  double variance() const { return count > 1 ? squares / (count - 1) : 0; }
};

struct ChainAverages {
  void add(const BetaProcessParameters& theta, double log_joint);
  bool empty() const { return log_joint.count == 0; }

  /// The averages as a model; W_variance has the posterior variance of each entry of W.
  Model model() const;

  void save(const std::string& suffix, MethodState& state) const;
  static ChainAverages saved(const std::string& suffix, const MethodState& state);

  RunningMean log_joint, noise_std, noise_variance, slab_variance;
  Matrix W, W_squares;  ///< mean, and sum of squared distances from it
  Vector pi, intercept;
};

/// How far chains are from having forgotten where they started (Gelman and Rubin 1992): the standard deviation of all
/// their draws over that within chains. 1 when they have; 0 where there are not two chains of two draws.
double r_hat(const std::vector<RunningMean>& chains);

}  // namespace gsc
