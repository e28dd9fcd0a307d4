#pragma once
// The eigenvector of the largest eigenvalue alone. All of them (eigen_pairs.h) take about twenty times as long with
// D = 192.

#include <gsc/types.h>

namespace gsc {

/// Of a symmetric positive semidefinite A, of unit norm, by restarted Lanczos iteration from `start`, which must not be
/// zero. v'Av is never less than that of `start`, of unit norm. It ends when |Av - (v'Av) v| is at most 1e-9 of v'Av,
/// or after so many restarts that two eigenvalues must be as good as equal.
Vector leading_eigenvector(const Matrix& A, const Vector& start);

}  // namespace gsc
