#pragma once
// The posterior of W (basis_prior.h) where values are missing. Each dimension is seen by data points of its own, whose
// sums are ZZ_d (gap_m_step.h). With g_dh = (ZZ_d)_hh
//
//   V_h = (K^-1 + diag_d(P_d g_dh))^-1        m_h = V_h P (YZ_h - sum_{h' != h} m_dh' (ZZ_d)_h'h)
//
// With the identity for K nothing joins the dimensions: row d of all m_h is the solution of
//
//   (P_d ZZ_d + I) m_d = P_d YZ_d             V_dh = 1/(1 + P_d g_dh)
//
// A dimension that nobody observed gets its prior.

#include <gsc/fit.h>

#include "factored/state.h"

namespace gsc {

/// As update_basis_posterior(). Returns E[w_d ZZ_d w_d'] for every dimension, which is part of the noise.
Vector update_basis_posterior_with_gaps(const FactoredOptions& options, const Statistics& statistics, int threads,
                                        Model& model, FactoredState& state);

}  // namespace gsc
