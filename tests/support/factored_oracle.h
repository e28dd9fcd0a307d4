#pragma once
// The factored posterior to judge the engine's by (Titsias and Lazaro-Gredilla 2011; docs/methods.md), in long double
// and one data point at a time: residuals in D dimensions, made anew for every latent; no Gram matrix, no shared work.
//
//   q(s, z) = prod_h q(s_h) q(z_h | s_h)      q(s_h = 1) = gamma_h      q(z_h | 1) = N(nu_h, tau_h^2)
//                                             q(z_h | 0) = the prior    q(w_h)     = N(m_h, V_h), V_h by its diagonal
//
//   r         = y - sum_{h' != h} m_h' gamma_h' nu_h'
//   1/tau_h^2 = sum_d (m_dh^2 + V_dh) / sigma_d^2 + 1/v_h
//   nu_h      = tau_h^2 (sum_d m_dh r_d / sigma_d^2 + mu_h/v_h)
//   logit gamma_h = logit pi_h + 1/2 log(tau_h^2/v_h) + 1/2 nu_h^2/tau_h^2 - 1/2 mu_h^2/v_h
//
// A NaN in y is a value that is missing: sums over d leave it out, in the bound too.

#include <gsc/model.h>

#include <vector>

#include "oracle.h"

namespace oracle {

/// q(s, z) of one data point. gamma and 1 - gamma are kept apart: either may be too small for the other to show.
struct FactoredPosterior {
  Vector gamma, not_gamma, nu, tau2;
  Vector mean() const { return gamma.cwiseProduct(nu); }                                  ///< <s.z>
  Vector square() const { return gamma.array() * (nu.array().square() + tau2.array()); }  ///< <(s.z)^2>
  void set_logit(Index h, Real logit);                                                    ///< of gamma_h
};

/// A model with independent noise and slab, in long double and free to be perturbed.
struct FactoredParameters {
  Matrix W, V;       ///< D x H: m and the diagonals of V
  Vector b;          ///< D
  Vector pi, mu, v;  ///< H
  Vector noise;      ///< D: sigma^2
  explicit FactoredParameters(const gsc::Model& model);
};

class FactoredOracle {
 public:
  explicit FactoredOracle(FactoredParameters parameters) : theta_(std::move(parameters)) {}
  explicit FactoredOracle(const gsc::Model& model) : FactoredOracle(FactoredParameters(model)) {}
  const FactoredParameters& parameters() const { return theta_; }
  Index latents() const { return theta_.W.cols(); }

  /// Updates every latent once, in this order, from the means <s.z> given.
  FactoredPosterior sweep(const Vector& y, Vector means, const std::vector<Index>& order) const;
  /// E[log p(y | s, z, W)] + E[log p(s, z)] - E[log q(s, z)]: below log p(y), and without KL(q(W) || p(W)).
  Real bound(const Vector& y, const FactoredPosterior& q) const;
  /// The posterior's expectations, with the bound for a log likelihood: what oracle::Sums adds up.
  Moments moments(const Vector& y, const FactoredPosterior& q) const;

 private:
  FactoredParameters theta_;
};

/// A sweep over all data points.
struct FactoredSweep {
  std::vector<FactoredPosterior> points;
  Matrix means;  ///< N x H
  Sums sums;
};
/// `codes` as factored_step() takes them: H x N, or empty.
FactoredSweep sweep(const FactoredOracle& oracle, const gsc::Matrix& data, const gsc::Matrix& codes,
                    const std::vector<Index>& order);
/// sum_n of the bound, with these posteriors held.
Real total_bound(const FactoredOracle& oracle, const gsc::Matrix& data, const std::vector<FactoredPosterior>& points);

/// KL(q(W) || p(W)) for the prior N(0, I) and independent entries: sum 1/2 (m^2 + V - 1 - log V).
Real identity_divergence(const FactoredParameters& theta);

/// 0, 1, ..., H-1.
std::vector<Index> fixed_order(Index latents);

}  // namespace oracle
