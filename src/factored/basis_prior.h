#pragma once
// The factored method's prior and posterior of W:  w_h ~ N(0, K),  q(w_h) = N(m_h, V_h), column by column.

#include <gsc/fit.h>

namespace gsc {

/// What the factored method carries from iteration to iteration.
struct FactoredState {
  Matrix codes;                 ///< H x N, or empty for zeros: <s.z> from which the sweep of the last row started
  double basis_divergence = 0;  ///< KL(q(W) || p(W)), part of the bound
  double length_scale = 0;      ///< of the gp prior
  Shape shape;                  ///< FitOptions::shape, for that
};

/// How D dimensions lie, with rows left out filled in. Throws UsageError if they cannot lie so.
Shape resolved_shape(const Shape& shape, Index dimensions);

/// K: the identity; or squared-exponential with unit variance over the positions, plus a little of the identity.
Matrix basis_covariance(BasisPrior prior, const Shape& shape, Index dimensions, double length_scale);

/// Gives a point estimate W a posterior to start from: everything scaled so that W fits the prior, and V = K/100.
void start_basis_posterior(const FactoredOptions& options, Model& model, FactoredState& state);

/// The best q(W) given the rest, then the best length scale nearby if it is to be learned. Sets W and W_variance, the
/// divergence and the length scale.
void update_basis_posterior(const FactoredOptions& options, const Statistics& statistics, Model& model,
                            FactoredState& state);

/// The divergence of q(W) and, if it is to be learned, the best length scale nearby, where V_h is known by
/// S = sum_h (V_h + m_h m_h') and the sum of log|V_h| only.
void settle_basis_divergence(const FactoredOptions& options, const Matrix& S, double log_volumes, Index latents,
                             FactoredState& state);

/// As update_basis_posterior() where values are missing. Each dimension is seen by data points of its own, whose
/// sums are ZZ_d (gap_m_step.h). With g_dh = (ZZ_d)_hh
///
///   V_h = (K^-1 + diag_d(P_d g_dh))^-1        m_h = V_h P (YZ_h - sum_{h' != h} m_dh' (ZZ_d)_h'h)
///
/// With the identity for K nothing joins the dimensions: row d of all m_h is the solution of
///
///   (P_d ZZ_d + I) m_d = P_d YZ_d             V_dh = 1/(1 + P_d g_dh)
///
/// A dimension that nobody observed gets its prior.
///
/// Returns E[w_d ZZ_d w_d'] for every dimension, which is part of the noise.
Vector update_basis_posterior_with_gaps(const FactoredOptions& options, const Statistics& statistics, int threads,
                                        Model& model, FactoredState& state);

}  // namespace gsc
