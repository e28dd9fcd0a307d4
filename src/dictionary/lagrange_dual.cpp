#include "dictionary/lagrange_dual.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <vector>

#include "math/blas.h"

namespace gsc {
namespace {

constexpr int kMostSteps = 200;
constexpr double kTolerance = 1e-10;  // of c: by how much the squared norm of an atom may be wrong
constexpr double kEnough = 1e-4;      // of the fall that the gradient promises
constexpr double kLeastMultiplier = 1e-10;

/// By how much the conditions of the minimum are violated: the gradient, where l may move against it.
double violation(const Vector& gradient, const Vector& multipliers, double least) {
  double worst = 0;
  for (Index j = 0; j < gradient.size(); ++j)
    worst = std::max(worst, multipliers[j] > least ? std::abs(gradient[j]) : -gradient[j]);
  return worst;
}

/// -H_FF^-1 g_F on the variables F that are not held at their bound, zero elsewhere.
Vector newton_direction(const DualPoint& point, const Vector& multipliers, double least) {
  std::vector<Index> free;
  for (Index j = 0; j < multipliers.size(); ++j)
    if (multipliers[j] > least || point.gradient[j] < 0) free.push_back(j);
  const Matrix hessian = point.hessian();
  Matrix part(hessian(free, free));
  const double ridge = 1e-14 * part.diagonal().maxCoeff();
  part.diagonal().array() += ridge;
  Matrix right = -point.gradient(free).transpose();
  Vector direction = Vector::Zero(multipliers.size());
  if (!solve_positive_definite(part, right)) right = -point.gradient(free).transpose() / hessian.diagonal().maxCoeff();
  for (std::size_t i = 0; i < free.size(); ++i) direction[free[i]] = right(0, static_cast<Index>(i));
  return direction;
}

/// The l at which atoms that have nothing to do with each other would have the norm asked for.
Vector first_guess(const BasisSums& sums, double bound, double least) {
  return (sums.XS.colwise().norm().transpose() / std::sqrt(bound) - sums.SS.diagonal()).cwiseMax(least);
}

/// For atoms that all have codes.
DualSolution minimise(const BasisSums& sums, double bound, const Vector& start) {
  const double least = kLeastMultiplier * sums.SS.diagonal().mean();
  DualSolution solution;
  solution.multipliers = start.size() > 0 ? start.cwiseMax(least) : first_guess(sums, bound, least);
  DualPoint point = dual_point(sums, bound, solution.multipliers);
  while (solution.steps < kMostSteps && violation(point.gradient, solution.multipliers, least) > kTolerance * bound) {
    ++solution.steps;
    const Vector direction = newton_direction(point, solution.multipliers, least);
    bool moved = false;
    for (double length = 1; length > 1e-12 && !moved; length /= 2) {
      const Vector there = (solution.multipliers + length * direction).cwiseMax(least);
      const double promised = point.gradient.dot(there - solution.multipliers);
      if (promised >= 0) break;
      DualPoint next = dual_point(sums, bound, there);
      // Near the minimum f is flat to the last digit; there the gradient decides.
      const bool flat = std::abs(promised) < 1e-13 * std::abs(point.value);
      if (next.value > point.value + kEnough * promised &&
          !(flat && violation(next.gradient, there, least) < violation(point.gradient, solution.multipliers, least)))
        continue;
      point = std::move(next);
      solution.multipliers = there;
      moved = true;
    }
    if (!moved) break;
  }
  solution.basis = std::move(point.basis);
  // What is left of the tolerance.
  for (auto atom : solution.basis.colwise()) atom /= std::max(1.0, atom.norm() / std::sqrt(bound));
  return solution;
}

}  // namespace

Matrix DualPoint::hessian() const {
  Matrix products = Matrix::Zero(basis.cols(), basis.cols());
  add_product_transposed(basis, basis, products);
  return 2 * products.cwiseProduct(inverse);
}

DualPoint dual_point(const BasisSums& sums, double bound, const Vector& multipliers) {
  const Index D = sums.XS.rows(), H = sums.XS.cols();
  Matrix system = sums.SS;
  system.diagonal() += multipliers;
  Matrix rows(D + H, H);
  rows << sums.XS, Matrix::Identity(H, H);
  DualPoint point;
  if (!solve_positive_definite(system, rows))
    throw Error(
        "the codes' second moments are not positive definite, even with the multipliers of the norms added; "
        "the numbers have left the range of the arithmetic: rescale the data");
  point.basis = rows.topRows(D);
  point.inverse = rows.bottomRows(H);
  point.value = point.basis.cwiseProduct(sums.XS).sum() + bound * multipliers.sum();
  point.gradient = bound - point.basis.colwise().squaredNorm().transpose().array();
  return point;
}

DualSolution lagrange_dual(const BasisSums& sums, double bound, const Matrix& before, const Vector& start) {
  const Index H = sums.XS.cols();
  std::vector<Index> used;
  for (Index j = 0; j < H; ++j)
    if (sums.SS(j, j) > 0) used.push_back(j);
  DualSolution solution{before, Vector::Zero(H), 0, H - static_cast<Index>(used.size())};
  if (used.empty()) return solution;
  const BasisSums part{sums.SS(used, used), sums.XS(Eigen::all, used)};
  const DualSolution found = minimise(part, bound, start.size() > 0 ? Vector(start(used)) : Vector());
  solution.multipliers(used) = found.multipliers;
  solution.steps = found.steps;
  const Matrix old = before(Eigen::all, used);
  // Where the old basis is as good as the best, rounding may make it the better one.
  if (basis_objective(part, found.basis) <= basis_objective(part, old)) solution.basis(Eigen::all, used) = found.basis;
  return solution;
}

double basis_objective(const BasisSums& sums, const Matrix& basis) {
  const Matrix image = product(basis, sums.SS);
  return image.cwiseProduct(basis).sum() - 2 * basis.cwiseProduct(sums.XS).sum();
}

}  // namespace gsc
