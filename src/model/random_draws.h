#pragma once
// Matrices of random numbers, filled column by column from the generator that is passed in. (Matrices are stored by
// rows; the order of drawing is another and stays, as results at equal seeds hang on it.)

#include <gsc/types.h>

namespace gsc {

inline Matrix standard_normal(Index rows, Index cols, Random& random) {
  std::normal_distribution<double> normal;
  Matrix draws(rows, cols);
  for (double& x : draws.reshaped()) x = normal(random);
  return draws;
}

/// Uniform in [low, high).
inline Vector uniform(Index count, double low, double high, Random& random) {
  std::uniform_real_distribution<double> distribution(low, high);
  Vector draws(count);
  for (double& x : draws) x = distribution(random);
  return draws;
}

}  // namespace gsc
