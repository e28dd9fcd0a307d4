#pragma once
// What Noise and Slab both ask of their numbers.

#include <gsc/types.h>

#include <string>

namespace gsc {

/// Throws Error, naming `what` and the first offender, unless all are positive and finite.
void require_variances(const Vector& variances, const std::string& what);

/// The lower Cholesky factor; throws Error unless `covariance` is square, symmetric (1e-8 relative) and positive
/// definite.
Matrix cholesky_factor(const Matrix& covariance, const std::string& what);

}  // namespace gsc
