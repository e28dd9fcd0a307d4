#pragma once
// The factored method's M-step.

#include <gsc/fit.h>

#include "factored/basis_prior.h"

namespace gsc {

/// Makes starting parameters those of the factored method: a shared prior if asked for, a posterior of W.
void start_factored(const FactoredOptions& options, Model& model, FactoredState& state);

/// The best parameters, q(W) included, given statistics gathered under `model`; one after the other, so that the bound
/// cannot fall.
Model factored_m_step(const Model& model, const Statistics& statistics, const FactoredOptions& options,
                      FactoredState& state, Rescues& rescues, bool learn_intercept = true, int threads = 1);

}  // namespace gsc
