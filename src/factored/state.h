#pragma once

#include <gsc/fit.h>

namespace gsc {

/// What the factored method carries from iteration to iteration.
struct FactoredState {
  Matrix codes;                 ///< H x N, or empty for zeros: <s.z> from which the sweep of the last row started
  double basis_divergence = 0;  ///< KL(q(W) || p(W)), part of the bound
  double length_scale = 0;      ///< of the gp prior
};

}  // namespace gsc
