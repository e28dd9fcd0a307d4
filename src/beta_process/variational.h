#pragma once
// The posterior of beta_process.h by variational Bayes: taken as a product
//
//   q(W) prod_h q(pi_h) q(g_s) q(g_e) prod_nh q(s_nh) q(a_nh | s_nh),
//
// each factor the best given the others, which gives the form of all of them. <.> is the mean under q.
//
//   q(W) = prod_d N(w_d; m_d, C)      C = (D I + <g_e> sum <a a'>)^-1,    M = <g_e> (sum y <a>') C     (rows share C)
//   q(pi_h) = Beta(alpha + n_h, beta + N - n_h)                           n_h = sum gamma_nh
//   q(g_s) = Gamma(shape + 1/2 sum n_h, rate + 1/2 sum <a^2>)
//   q(g_e) = Gamma(shape + 1/2 N D, rate + 1/2 <|y - W a|^2>)
//   q(a_nh | on) = N(nu, tau^2):      1/tau^2 = <g_s> + <g_e> B_hh,       B = <W'W> = M'M + D C
//     nu = tau^2 <g_e> (M'y - sum_{k != h} B_hk <a_k>)
//     logit gamma = <log pi> - <log(1 - pi)> + 1/2 (<log g_s> + log tau^2) + 1/2 nu^2/tau^2
//
// The last is the factored method's update (factored/model.h) with B in place of W'PW and other constants, so
// its sweeps do the work here. The bound of log p(y) is
//
//   <log p(y | a, W, g_e)> + <log p(a | pi, g_s) - log q(a)> - KL(W) - KL(pi) - KL(g_s) - KL(g_e);
//
// b is the value that makes it largest.

#include <gsc/inference.h>

#include "beta_process/beta_process.h"
#include "factored/model.h"

namespace gsc {

/// q(g) = Gamma(shape, rate).
struct GammaFactor {
  double shape = 1, rate = 1;
  double mean() const { return shape / rate; }
  double mean_log() const;
  /// From Gamma(prior_shape, prior_rate).
  double divergence(double prior_shape, double prior_rate) const;
};

/// All factors but those of the codes.
struct VariationalFactors {
  Matrix M;          ///< D x H
  Matrix C;          ///< H x H
  Vector intercept;  ///< D, or empty
  Vector on, off;    ///< H: q(pi_h) = Beta(on_h, off_h)
  GammaFactor slab, noise;

  Matrix mean_gram() const;     ///< B
  Vector mean_log_pi() const;   ///< <log pi_h>
  Vector mean_log_off() const;  ///< <log(1 - pi_h)>
};

/// Factors around these parameters, as sure of them as so many data points make one.
VariationalFactors factors_around(const BetaProcessParameters& theta, double points);

/// What a sweep over the codes needs. Its bound is <log p(y, a | rest) - log q(a)>.
FactoredModel codes_model(const VariationalFactors& q, std::vector<Index> order);
/// The means of the factors as parameters.
Model as_model(const VariationalFactors& q);

/// The same bound for other factors q and the same codes: `entropy` is <-log q(a)>, which comes out of codes_entropy()
/// with the factors of the sweep.
double bound(const VariationalFactors& q, const BetaProcessPriors& priors, const Statistics& codes, double entropy);
double codes_entropy(const VariationalFactors& q, const Statistics& codes);

/// The best factor each, given the others and sums over codes; `codes` are sums about the intercept and move with it.
void update_basis(const Statistics& codes, VariationalFactors& q);
void update_intercept(Statistics& codes, VariationalFactors& q);
void update_pi(const Statistics& codes, const BetaProcessPriors& priors, VariationalFactors& q);
void update_slab(const Statistics& codes, const BetaProcessPriors& priors, VariationalFactors& q);
void update_noise(const Statistics& codes, const BetaProcessPriors& priors, VariationalFactors& q);

}  // namespace gsc
