#pragma once
// Eigenvalues and eigenvectors, compiled once: the solver costs the compiler ten seconds wherever it is used.

#include <gsc/export.h>
#include <gsc/types.h>

namespace gsc {

/// A = vectors diag(values) vectors', values ascending.
struct EigenPairs {
  Vector values;
  Matrix vectors;
};
/// Reads the lower triangle of a symmetric matrix.
GSC_EXPORT EigenPairs eigen_pairs(const Matrix& symmetric);

}  // namespace gsc
