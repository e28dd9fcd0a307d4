#pragma once
// Beta process factor analysis (Zhou, Chen, Paisley, Ren, Li, Xing, Dunson, Sapiro and Carin 2009, 2012), in the
// symbols of this house: what that paper calls D, z, s is W, s, z here, and a = s.z is the code.
//
//   y = b + W a + e              e ~ N(0, I/g_e)
//   w_h ~ N(0, I/D)              basis functions of about unit length
//   a_h = 0 or, with probability pi_h, a_h ~ N(0, 1/g_s)
//   pi_h ~ Beta(alpha, beta)     alpha = a/H, beta = b (H-1)/H: latents that nobody needs die out
//   g_s, g_e ~ Gamma(shape, rate)
//
// b, which the paper does not have, is zero, the mean of the data, or has a flat prior.

#include <gsc/model.h>

namespace gsc {

struct BetaProcessPriors {
  double alpha = 1, beta = 1;  ///< of each pi_h
  double slab_shape = 1e-6, slab_rate = 1e-6;
  double noise_shape = 1e-6, noise_rate = 1e-6;
};

struct BetaProcessParameters {
  Matrix W;          ///< D x H
  Vector intercept;  ///< D, or empty: zero
  Vector logit_pi;   ///< H; pi of a latent that nobody uses is too small for anything else
  double slab_precision = 1, noise_precision = 1;  ///< g_s, g_e
};

/// Sums over the data points. y is the data less the intercept; where it is missing, it counts nowhere.
struct BetaProcessSums {
  BetaProcessSums(Index dimensions, Index latents);
  void clear();
  BetaProcessSums& operator+=(const BetaProcessSums& other);

  double points = 0, values = 0;  ///< N, and how many values were observed: N D
  Vector active;                  ///< H       how many points have a latent on
  Vector a;                       ///< H       sum a
  Matrix aa;                      ///< H x H   sum a a', upper triangle; not of points with missing values
  Matrix ay;                      ///< H x D   sum a y'; the same
  Vector y;                       ///< D       sum y; the same
  double yy = 0;                  ///< sum |y|^2; of points with missing values that of y - W a
  double a_squared = 0;           ///< sum |a|^2
};

/// log p(y, a, W, logit pi, log g_s, log g_e), where sum |y - W a|^2 is `residual`. Of logit pi and the logs, because
/// the density of a pi near 0 itself has no bound.
double log_joint(const BetaProcessParameters& theta, const BetaProcessPriors& priors, const BetaProcessSums& sums,
                 double residual);

/// With the one noise variance, slab variance and slab mean 0 of the method. pi is held in [1e-7, 1 - 1e-7].
Model as_model(const BetaProcessParameters& theta);
BetaProcessParameters from_model(const Model& model);

}  // namespace gsc
