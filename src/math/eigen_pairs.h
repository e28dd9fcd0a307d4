#pragma once
// Eigenvalues and eigenvectors, compiled once: the solver costs the compiler ten seconds wherever it is used.

#include <gsc/types.h>

namespace gsc {
#pragma GCC visibility push(default)  // for the libraries that build on this one

/// A = vectors diag(values) vectors', values ascending.
struct EigenPairs {
  Vector values;
  Matrix vectors;
};
/// Reads the lower triangle of a symmetric matrix.
EigenPairs eigen_pairs(const Matrix& symmetric);

#pragma GCC visibility pop
}  // namespace gsc
