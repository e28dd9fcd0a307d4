#pragma once
// Small dictionaries and data that they made, for tests of methods that learn one.

#include <gsc/fit.h>

#include "model/random_draws.h"

namespace gsc::test {

/// D x H, random directions of unit norm.
inline Matrix random_atoms(Index dimensions, Index atoms, Random& random) {
  Matrix W = standard_normal(dimensions, atoms, random);
  for (Index h = 0; h < atoms; ++h) W.col(h) /= W.col(h).norm();
  return W;
}

/// A model with these atoms and this noise; the rest is of no importance to codes.
inline Model dictionary_model(const Matrix& W, double noise) {
  const Index H = W.cols();
  return {W,
          {},
          {},
          Vector::Constant(H, 0.1),
          Vector::Zero(H),
          Slab::diagonal(Vector::Ones(H)),
          Noise::scalar(noise * noise, W.rows())};
}

/// Data points of `active` atoms each with coefficients around 1 and -1, and noise.
inline Matrix sparse_data(const Matrix& W, Index points, int active, double noise, Random& random) {
  Matrix X = noise * standard_normal(points, W.rows(), random);
  std::uniform_int_distribution<Index> pick(0, W.cols() - 1);
  std::normal_distribution<double> normal;
  for (Index n = 0; n < points; ++n)
    for (int k = 0; k < active; ++k)
      X.row(n) += (normal(random) > 0 ? 1 : -1) * (1 + 0.2 * normal(random)) * W.col(pick(random)).transpose();
  return X;
}

inline FitOptions ksvd_options(Index atoms, double noise) {
  FitOptions options;
  options.latents = atoms;
  options.inference.method = Method::ksvd;
  options.inference.threads = 1;
  options.intercept = Intercept::none;
  options.sigma = noise;
  options.iterations = 5;
  options.tolerance = 0;
  return options;
}

}  // namespace gsc::test
