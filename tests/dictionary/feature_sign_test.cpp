// Feature-sign search and the Lagrange dual by their optimality conditions.

#include "dictionary/feature_sign.h"

#include <gtest/gtest.h>

#include "dictionary/lagrange_dual.h"
#include "effort.h"
#include "lasso_problem.h"
#include "math/numeric_scope.h"

namespace gsc::test {
namespace {

TEST(FeatureSign, SatisfiesBothOptimalityConditionsOnTenThousandProblems) {
  Random random(1);
  const int problems = kSanitized ? 400 : 10000;
  for (int trial = 0; trial < problems; ++trial) {
    const Index H = 1 + static_cast<Index>(random() % 40), D = 1 + static_cast<Index>(random() % 20);
    const LassoProblem problem = lasso_problem(kLassoKinds[trial % 4], H, D, random);
    if (problem.lambda == 0) continue;
    FeatureSign search(H);
    search.solve(WholeGram(problem.gram), problem.correlations.data(), problem.lambda);
    ASSERT_LT(problem.violation(code_of(search, H)), 1e-10) << "trial " << trial;
  }
}

TEST(FeatureSign, EndsAtTheSolutionFromAnyStart) {
  Random random(2);
  std::normal_distribution<double> normal;
  double from_zero = 0, from_near = 0;
  for (int trial = 0; trial < (kSanitized ? 100 : 2000); ++trial) {
    const Index H = 2 + static_cast<Index>(random() % 40), D = 1 + static_cast<Index>(random() % 20);
    const LassoProblem problem = lasso_problem(kLassoKinds[trial % 4], H, D, random);
    if (problem.lambda == 0) continue;
    FeatureSign search(H);
    search.solve(WholeGram(problem.gram), problem.correlations.data(), problem.lambda);
    const double best = problem.objective(code_of(search, H));
    from_zero += static_cast<double>(search.steps());
    std::vector<Index> atoms;
    std::vector<double> values;
    for (Index i = 0; i < search.size(); ++i) {
      atoms.push_back(search.atom(i));
      values.push_back(search.value(i) * (1 + 0.01 * normal(random)));
    }
    search.start(atoms.data(), values.data(), static_cast<Index>(atoms.size()));
    search.solve(WholeGram(problem.gram), problem.correlations.data(), problem.lambda);
    from_near += static_cast<double>(search.steps());
    // Far away, with more atoms than are independent, signs wrong, and zeros.
    atoms.clear();
    values.clear();
    for (Index j = 0; j < H; ++j) {
      atoms.push_back(j);
      values.push_back(j % 5 == 0 ? 0 : normal(random));
    }
    search.start(atoms.data(), values.data(), H);
    search.solve(WholeGram(problem.gram), problem.correlations.data(), problem.lambda);
    const Vector far = code_of(search, H);
    ASSERT_LT(problem.violation(far), 1e-10) << "trial " << trial;
    ASSERT_NEAR(problem.objective(far), best, 1e-10 * std::max(1.0, best)) << "trial " << trial;
  }
  EXPECT_LT(from_near, 0.5 * from_zero);  // what a start is for
}

/// Data, codes and a bound under which some atoms are long and others not.
struct BasisProblem {
  Matrix X, S;  // D x N, H x N
  BasisSums sums;
  Matrix before;
};

BasisProblem basis_problem(Index D, Index H, Index N, Random& random) {
  std::normal_distribution<double> normal;
  BasisProblem problem{Matrix(D, N), Matrix::Zero(H, N), {}, Matrix(D, H)};
  for (double& value : problem.S.reshaped())
    if (random() % 3 == 0) value = normal(random);
  for (double& value : problem.before.reshaped()) value = normal(random);
  Matrix truth = problem.before;
  for (Index j = 0; j < H; ++j) truth.col(j) *= 0.3 + 0.2 * static_cast<double>(j % 10);
  for (double& value : problem.X.reshaped()) value = 0.3 * normal(random);
  problem.X += truth * problem.S;
  problem.before.colwise().normalize();
  problem.sums = {problem.S * problem.S.transpose(), problem.X * problem.S.transpose()};
  return problem;
}

TEST(LagrangeDual, DerivativesAreThoseOfDifferences) {
  const NumericScope scope;
  Random random(3);
  const BasisProblem problem = basis_problem(6, 5, 40, random);
  Vector l(5);
  l << 0.5, 2, 7, 0.1, 20;
  const DualPoint here = dual_point(problem.sums, 1.7, l);
  const Matrix hessian = here.hessian();
  for (Index j = 0; j < 5; ++j) {
    const double h = 1e-5 * l[j];
    Vector up = l, down = l;
    up[j] += h;
    down[j] -= h;
    const DualPoint above = dual_point(problem.sums, 1.7, up), below = dual_point(problem.sums, 1.7, down);
    EXPECT_NEAR(here.gradient[j], (above.value - below.value) / (2 * h), 1e-6 * here.gradient.norm());
    EXPECT_LT((hessian.col(j) - (above.gradient - below.gradient) / (2 * h)).norm(), 1e-6 * hessian.norm());
  }
}

TEST(LagrangeDual, IsTheBestBasisWithinTheBound) {
  const NumericScope scope;
  Random random(4);
  for (int trial = 0; trial < (kSanitized ? 20 : 200); ++trial) {
    const Index D = 2 + static_cast<Index>(random() % 10), H = 1 + static_cast<Index>(random() % 20);
    const BasisProblem problem = basis_problem(D, H, H + 30, random);
    const double bound = std::pow(10.0, trial % 5 - 2);
    Matrix before = problem.before * std::sqrt(bound);
    const DualSolution found = lagrange_dual(problem.sums, bound, before);
    SCOPED_TRACE(::testing::Message() << "trial " << trial << " steps " << found.steps);
    // The conditions of Karush, Kuhn and Tucker: B (SS' + L) = XS', |b_j|^2 <= c, l_j >= 0, l_j (|b_j|^2 - c) = 0.
    Matrix system = problem.sums.SS;
    system.diagonal() += found.multipliers;
    EXPECT_LT((found.basis * system - problem.sums.XS).norm(), 1e-7 * problem.sums.XS.norm());
    const Vector lengths = found.basis.colwise().squaredNorm().transpose();
    EXPECT_GE(found.multipliers.minCoeff(), 0);
    EXPECT_LE(lengths.maxCoeff(), bound * (1 + 1e-14));
    const double scale = problem.sums.SS.diagonal().maxCoeff();
    for (Index j = 0; j < H; ++j)
      EXPECT_LT(found.multipliers[j] * (bound - lengths[j]), 1e-8 * bound * (scale + found.multipliers[j]));
    // |X - B S|^2 falls, and a second time there is nothing to do.
    EXPECT_LE((problem.X - found.basis * problem.S).squaredNorm(), (problem.X - before * problem.S).squaredNorm());
    const DualSolution again = lagrange_dual(problem.sums, bound, found.basis, found.multipliers);
    EXPECT_LE(again.steps, 1);
    EXPECT_LE(basis_objective(problem.sums, again.basis), basis_objective(problem.sums, found.basis));
  }
}

TEST(LagrangeDual, LeavesAtomsAloneThatNobodyUsesAndCopesWithCopies) {
  const NumericScope scope;
  Random random(5);
  BasisProblem problem = basis_problem(5, 6, 30, random);
  problem.S.row(2).setZero();
  problem.S.row(4) = 2 * problem.S.row(1);
  problem.sums = {problem.S * problem.S.transpose(), problem.X * problem.S.transpose()};
  const DualSolution found = lagrange_dual(problem.sums, 1, problem.before);
  EXPECT_EQ(found.unused, 1);
  EXPECT_EQ(found.basis.col(2), problem.before.col(2));
  EXPECT_LE(found.basis.colwise().norm().maxCoeff(), 1 + 1e-14);
  EXPECT_LT((problem.X - found.basis * problem.S).squaredNorm(),
            (problem.X - problem.before * problem.S).squaredNorm());
  problem.sums = {Matrix::Zero(6, 6), Matrix::Zero(5, 6)};
  EXPECT_EQ(lagrange_dual(problem.sums, 1, problem.before).basis, problem.before);
}

}  // namespace
}  // namespace gsc::test
