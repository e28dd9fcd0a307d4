#pragma once
// What a factored sweep needs of a model. The latents stand in the order in which the sweep takes them.
//
//   q(s, z) = prod_h q(s_h, z_h):  gamma_h = q(s_h = 1),  q(z_h | 1) = N(nu_h, tau_h^2),  x_h = gamma_h nu_h
//   G = W'PW,   A_h = G_hh + tr(P V_h)               V_h: the variance of column h of W
//   1/tau_h^2 = A_h + 1/psi_h
//   nu_h = tau_h^2 (W_h'P y - sum_{h' != h} G_hh' x_h' + mu_h/psi_h)
//   logit gamma_h = logit pi_h + 1/2 log(tau_h^2/psi_h) + 1/2 nu_h^2/tau_h^2 - 1/2 mu_h^2/psi_h
//                 = ...                                 + 1/2 tau_h^2 (e_h (e_h + 2 mu_h/psi_h) - A_h mu_h^2/psi_h)
//   e_h = nu_h/tau_h^2 - mu_h/psi_h: what the data and the other latents say. The second form does not cancel.
//
// The bound of a data point is
//
//   constant - 1/2 y'Py + x'W'Py - 1/2 x'Gx + sum_h local_h,
//   local_h = softplus(logit gamma_h) - x_h e_h + 1/2 G_hh x_h^2
//
// local_h joins the divergence of q(s_h, z_h) from its prior with -1/2 (A_h <(s_h z_h)^2> - G_hh x_h^2), using
// tau_h^2 (A_h + 1/psi_h) = 1 and that gamma_h, nu_h are as above. e_h is that of latent h's update; so it stays right
// when the others move on.

#include <gsc/inference.h>
#include <gsc/model.h>

#include <memory>
#include <vector>

namespace gsc {

/// One latent, as the kernel reads it.
struct FactoredLatent {
  double gram;          ///< G_hh
  double tau2, offset;  ///< tau^2; mu/psi
  double logit;         ///< of gamma where e is zero
  double unit;          ///< sqrt(A): makes changes of x comparable
};

/// What a factored sweep needs where values are missing, beside FactoredModel. A missing entry has infinite
/// noise variance, so with o the observed entries of a data point
///
///   G_hh = sum_{d in o} P_d m_dh^2        A_h = G_hh + sum_{d in o} P_d V_dh        tau_h^2 and logit as ever
///
/// are products of the mask with D x H matrices, and all that is left of the other latents is the residual:
///
///   e_h = sum_{d in o} P_d m_dh r_d + G_hh x_h        r = y - W x on o
///
/// An update moves r by m_h times the change of x_h, 2 D multiplications in all, and no Gram matrix of the data point is
/// needed. The bound of a data point is
///
///   sum_h (log(1 - pi_h) + local_h) - sum_{d in o} (1/2 P_d r_d^2 + 1/2 log 2 pi sigma_d^2)
///
/// The latents stand in the order of the sweep.
struct FactoredGapModel {
  FactoredGapModel(const Model& model, const std::vector<Index>& order);

  Matrix W;            ///< D x H
  Matrix basis;        ///< H x D   W'
  Matrix squares;      ///< H x D   P_d m_dh^2
  Matrix spreads;      ///< H x D   P_d V_dh, or empty
  Vector precision;    ///< D       P
  Vector log_noise;    ///< D       1/2 log(2 pi sigma_d^2)
  Vector psi;          ///< H
  Vector prior_logit;  ///< H       logit pi
  Vector pull;         ///< H       mu^2/psi
  double constant;     ///< sum_h log(1 - pi_h)
};

struct FactoredModel {
  /// Throws UsageError for noise or slab with covariances. `with_gaps`: values may be missing.
  FactoredModel(const Model& model, std::vector<Index> order, bool with_gaps = false);

  Index dimensions, latents;
  std::vector<Index> order;                      ///< position -> latent
  Vector intercept;                              ///< D, or empty: what is taken from the data to make it y
  Matrix projection;                             ///< H x D   W'P
  Matrix gram;                                   ///< H x H   G
  std::vector<FactoredLatent> factors;           ///< H
  double constant;                               ///< sum_h log(1 - pi_h) - 1/2 (D log 2 pi + log|Sigma|)
  std::shared_ptr<const FactoredGapModel> gaps;  ///< null unless values may be missing
};

}  // namespace gsc
