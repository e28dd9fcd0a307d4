#pragma once
// The factored method's prior and posterior of W:  w_h ~ N(0, K),  q(w_h) = N(m_h, V_h), column by column.

#include <gsc/fit.h>

#include "factored/state.h"

namespace gsc {

/// How D dimensions lie, with rows left out filled in. Throws UsageError if they cannot lie so.
FactoredOptions::Shape resolved_shape(const FactoredOptions::Shape& shape, Index dimensions);

/// K: the identity; or squared-exponential with unit variance over the positions, plus a little of the identity.
Matrix basis_covariance(const FactoredOptions& options, Index dimensions, double length_scale);

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

}  // namespace gsc
