#pragma once
// Gibbs draws of the code of a data point: y = W a + e, with a spike at zero and a slab in the prior of every a_h,
//
//   a_h = 0 with probability 1 - pi_h,  else a_h ~ N(0, 1/g_h),     e ~ N(0, I/g_e).
//
// One after the other, each given the others. With r the data without all other latents' share, e_h = W_h'r and
// v_h = g_h + g_e W_h'W_h, the amplitude is integrated out when the spike is drawn:
//
//   logit P(a_h != 0 | r) = logit pi_h + 1/2 log(g_h/v_h) + 1/2 g_e^2 e_h^2 / v_h
//   a_h | a_h != 0, r     ~ N(g_e e_h/v_h, 1/v_h)
//
// A uniform number u switches latent h on if logit u is below that, that is if e_h^2 exceeds the threshold
//
//   t_h = (logit u - logit pi_h - 1/2 log(g_h/v_h)) 2 v_h/g_e^2,
//
// so all logarithms are taken before the sweep, many at a time, and the sweep itself looks for the next latent that is
// on or that e_h^2 > t_h switches on. c = W'(y - W a) follows each change of a_h by one row of G = W'W: a sweep costs
// H comparisons and H multiplications a change. Where values are missing, sums over d are over those observed, which
// makes v_h the data point's own; then y - W a is followed instead, and e_h is a sum over d for every latent.

#include <gsc/types.h>

#include <vector>

#include "math/counter_random.h"

namespace gsc {

/// The parameters, as sweeps need them.
struct CodeModel {
  CodeModel(const Matrix& W, const Vector& logit_pi, const Vector& slab_precision, double noise_precision);

  Index dimensions, latents;
  double noise_precision;    ///< g_e
  Vector slab_precision;     ///< H       g_h
  Matrix W, Wt;              ///< D x H and H x D
  Matrix squares;            ///< D x H   W.W
  Matrix gram;               ///< H x H   G
  Vector logit_pi;           ///< H
  Vector own;                ///< H       W_h'W_h
  Vector precision, offset;  ///< H       v_h; logit pi_h + 1/2 log(g_h/v_h)
};

/// Draws codes with one thread's buffers. Codes are dense here: H numbers, 0 for latents that are off.
class CodeSampler {
 public:
  explicit CodeSampler(const CodeModel& model);

  /// A complete data point: `correlations` is W'(y - W a) in and out, `code` the last a in, the next one out. The last
  /// sweep spares what only a further one would read: then `correlations` are of no use afterwards.
  void sweep(double* correlations, double* code, CounterRandom& random, bool last = false);
  /// W'y -> W'(y - W a) for the latent that has this value; for every latent that is on, before a sweep.
  void take_out(Index latent, double value, double* correlations) const;

  /// One with missing values: `observed` has D numbers, 1 or 0; `own` is sum_d observed_d W_dh^2; `residual` is y with
  /// 0 for what is missing, and out comes y - W a, with 0 in the same places.
  void sweep_masked(const double* observed, const double* own, double* residual, double* code, CounterRandom& random);

  /// The latents that the last sweep left on, in order.
  const std::vector<Index>& on() const { return on_; }

  /// Mean and variance of a_h given which latents the last sweep left on: half of the randomness is integrated out.
  /// `y` and `observed` as above, or null for a complete data point.
  struct Moments {
    std::vector<Index> latents;  ///< those that are on
    Vector mean, variance;
  };
  const Moments& moments(const double* y, const double* observed);
  /// Another data point comes: what moments() keeps for the same latents on is not its.
  void forget_moments() { known_ = false; }

 private:
  const CodeModel& model_;
  std::vector<double> thresholds_, precision_, offset_;
  Moments moments_;
  std::vector<Index> on_;
  bool known_ = false;  // moments_ is of this data point
};

}  // namespace gsc
