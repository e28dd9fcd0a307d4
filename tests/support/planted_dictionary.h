#pragma once
// Data made of a few atoms of a known dictionary, and how much of it was found again.

#include <gsc/model.h>
#include <gsc/types.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "model/random_draws.h"

namespace gsc::test {

struct Planted {
  Matrix atoms;  // D x H, unit columns
  Matrix data;   // N x D
};

/// Every data point is the sum of `active` atoms with coefficients of size 1 to 2 and either sign, and noise.
inline Planted planted(Index dimensions, Index latents, Index points, Index active, double noise, std::uint64_t seed) {
  Random random(seed);
  Planted made{standard_normal(dimensions, latents, random), noise * standard_normal(points, dimensions, random)};
  made.atoms.colwise().normalize();
  std::vector<Index> order(static_cast<std::size_t>(latents));
  std::iota(order.begin(), order.end(), Index{0});
  std::uniform_real_distribution<double> size(1, 2);
  for (Index n = 0; n < points; ++n) {
    std::shuffle(order.begin(), order.end(), random);
    for (Index i = 0; i < active; ++i) {
      const double sign = random() % 2 == 0 ? 1 : -1;
      made.data.row(n) += sign * size(random) * made.atoms.col(order[static_cast<std::size_t>(i)]).transpose();
    }
  }
  return made;
}

/// The share of the planted atoms to which one of W's columns points as nearly as 0.97 (14 degrees).
inline double recovered(const Matrix& planted, const Matrix& W) {
  const Matrix cosines = (planted.transpose() * W.colwise().normalized()).cwiseAbs();
  return (cosines.rowwise().maxCoeff().array() > 0.97).cast<double>().mean();
}

}  // namespace gsc::test
