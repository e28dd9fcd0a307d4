#pragma once
// Lasso problems, easy and degenerate, and what their solution must satisfy.

#include <gsc/types.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "dictionary/active_set.h"

namespace gsc::test {

/// random: normal entries. copies: some atoms are others, or their negatives. thirds: entries are -1, 0 or 1 and data
/// are small integers, so that correlations tie and atoms are combinations of others. alike: all atoms lie close
/// together.
enum class LassoKind { random, copies, thirds, alike };
inline constexpr LassoKind kLassoKinds[] = {LassoKind::random, LassoKind::copies, LassoKind::thirds, LassoKind::alike};

struct LassoProblem {
  Matrix atoms;  // H x D
  Vector x, correlations;
  Matrix gram;
  double lambda = 0;

  double objective(const Vector& a) const {
    return 0.5 * (x - atoms.transpose() * a).squaredNorm() + lambda * a.lpNorm<1>();
  }
  /// By how much the optimality conditions fail: g_j = -lambda sign(a_j) where a_j is not zero, |g_j| <= lambda where
  /// it is.
  double violation(const Vector& a) const {
    const Vector g = atoms * (atoms.transpose() * a - x);
    double worst = 0;
    for (Index j = 0; j < a.size(); ++j)
      worst = std::max(worst, a[j] != 0 ? std::abs(g[j] + std::copysign(lambda, a[j])) : std::abs(g[j]) - lambda);
    return worst;
  }
};

/// With lambda somewhere between 0.1 % and all of the largest useful one.
inline LassoProblem lasso_problem(LassoKind kind, Index latents, Index dimensions, Random& random) {
  std::normal_distribution<double> normal;
  std::uniform_int_distribution<int> thirds(-1, 1), coin(0, 2);
  LassoProblem problem;
  problem.atoms.resize(latents, dimensions);
  problem.x.resize(dimensions);
  for (double& value : problem.atoms.reshaped()) value = kind == LassoKind::thirds ? thirds(random) : normal(random);
  for (double& value : problem.x) value = kind == LassoKind::thirds ? thirds(random) + thirds(random) : normal(random);
  if (kind == LassoKind::copies)
    for (Index j = 1; j < latents; ++j)
      if (coin(random) == 0) problem.atoms.row(j) = (coin(random) == 0 ? -1 : 1) * problem.atoms.row(j / 2);
  if (kind == LassoKind::alike)
    for (Index j = 1; j < latents; ++j) problem.atoms.row(j) = problem.atoms.row(0) + 0.1 * problem.atoms.row(j);
  problem.correlations = problem.atoms * problem.x;
  problem.gram = problem.atoms * problem.atoms.transpose();
  problem.lambda =
      problem.correlations.cwiseAbs().maxCoeff() * std::uniform_real_distribution<double>(0.001, 1)(random);
  return problem;
}

/// The code that a pursuit has found, as a vector.
template <class Pursuit>
Vector code_of(const Pursuit& pursuit, Index latents) {
  Vector code = Vector::Zero(latents);
  for (Index i = 0; i < pursuit.size(); ++i) code[pursuit.atom(i)] = pursuit.value(i);
  return code;
}

}  // namespace gsc::test
