#pragma once

#include <gsc/types.h>

namespace gsc {

/// The matrix itself if it is positive definite (after symmetrising), else with its eigenvalues raised to `floor`, each
/// counted in `raised`.
Matrix make_positive_definite(const Matrix& covariance, double floor, std::int64_t& raised);

/// The same, but also where the matrix is positive definite with eigenvalues below `floor`.
Matrix hold_above(const Matrix& covariance, double floor, std::int64_t& raised);

bool is_positive_definite(const Matrix& symmetric);

}  // namespace gsc
