#pragma once
// Sources and mixtures that the tests of separation share.

#include <gsc/generate.h>

namespace gsc::test {

/// sources x samples, Laplace.
inline Matrix laplace(Index sources, Index samples, std::uint64_t seed) {
  Random random(seed);
  return superposition(Matrix::Identity(sources, sources), Coefficients::laplace, 0, samples, random).transpose();
}

inline Matrix mixing(Index size) {
  Random random(5);
  return mixing_matrix(size, 0.3, random);
}

}  // namespace gsc::test
