// The path of LARS: the lasso's solution wherever it is stopped, as coordinate descent finds it.

#include "dictionary/lars.h"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "effort.h"
#include "lasso_problem.h"

namespace gsc::test {
namespace {

/// One coefficient after the other, the best given the others, until none moves.
Vector coordinate_descent(const LassoProblem& problem) {
  Vector a = Vector::Zero(problem.gram.rows());
  for (int sweep = 0; sweep < 200000; ++sweep) {
    double moved = 0;
    for (Index j = 0; j < a.size(); ++j) {
      if (problem.gram(j, j) == 0) continue;
      const double free = problem.correlations[j] - problem.gram.row(j).dot(a) + problem.gram(j, j) * a[j];
      const double next = std::copysign(std::max(std::abs(free) - problem.lambda, 0.0), free) / problem.gram(j, j);
      moved = std::max(moved, std::abs(next - a[j]));
      a[j] = next;
    }
    if (moved < 1e-14) break;
  }
  return a;
}

TEST(Lars, IsTheLassoOfCoordinateDescent) {
  Random random(1);
  for (int trial = 0; trial < (kSanitized ? 20 : 200); ++trial) {
    // Fewer atoms than dimensions: the solution is one point.
    const Index H = 1 + static_cast<Index>(random() % 12), D = H + static_cast<Index>(random() % 20);
    const LassoProblem problem = lasso_problem(LassoKind::random, H, D, random);
    Lars lars(H);
    lars.solve(WholeGram(problem.gram), problem.correlations.data(), problem.x.squaredNorm(),
               {.lambda = problem.lambda});
    EXPECT_LT((code_of(lars, H) - coordinate_descent(problem)).lpNorm<Eigen::Infinity>(), 1e-8) << trial;
  }
}

TEST(Lars, SatisfiesTheOptimalityConditionsEvenWhereAtomsTie) {
  Random random(2);
  for (const LassoKind kind : kLassoKinds)
    for (int trial = 0; trial < (kSanitized ? 50 : 1000); ++trial) {
      const Index H = 1 + static_cast<Index>(random() % 40), D = 1 + static_cast<Index>(random() % 20);
      const LassoProblem problem = lasso_problem(kind, H, D, random);
      if (problem.lambda == 0) continue;
      SCOPED_TRACE(::testing::Message() << "kind " << static_cast<int>(kind) << " trial " << trial);
      Lars lars(H);
      lars.solve(WholeGram(problem.gram), problem.correlations.data(), problem.x.squaredNorm(),
                 {.lambda = problem.lambda});
      const Vector code = code_of(lars, H);
      EXPECT_NEAR(lars.lambda(), problem.lambda, 1e-12 * problem.lambda);
      EXPECT_LT(problem.violation(code), 1e-10);
      EXPECT_NEAR(lars.squared_error(), (problem.x - problem.atoms.transpose() * code).squaredNorm(),
                  1e-9 * problem.x.squaredNorm());
    }
}

TEST(Lars, EndsAtTheErrorAskedFor) {
  Random random(3);
  for (const LassoKind kind : kLassoKinds)
    for (int trial = 0; trial < (kSanitized ? 20 : 200); ++trial) {
      const Index H = 20, D = 12;
      LassoProblem problem = lasso_problem(kind, H, D, random);
      const double bound = 0.3 * problem.x.squaredNorm();
      const Vector best = problem.atoms.transpose().completeOrthogonalDecomposition().solve(problem.x);
      if (!((problem.x - problem.atoms.transpose() * best).squaredNorm() < 0.99 * bound)) continue;
      Lars lars(H);
      lars.solve(WholeGram(problem.gram), problem.correlations.data(), problem.x.squaredNorm(),
                 {.squared_error = bound});
      const Vector code = code_of(lars, H);
      EXPECT_NEAR((problem.x - problem.atoms.transpose() * code).squaredNorm(), bound, 1e-9 * bound);
      problem.lambda = lars.lambda();  // of that error it is the lasso
      EXPECT_LT(problem.violation(code), 1e-9);
    }
}

TEST(Lars, EndsBeforeOneAtomTooMany) {
  Random random(4);
  for (int trial = 0; trial < 100; ++trial) {
    LassoProblem problem = lasso_problem(LassoKind::random, 30, 20, random);
    const Index most = 1 + trial % 8;
    Lars lars(30);
    lars.solve(WholeGram(problem.gram), problem.correlations.data(), problem.x.squaredNorm(), {.atoms = most});
    EXPECT_LE(lars.size(), most);
    problem.lambda = lars.lambda();
    EXPECT_LT(problem.violation(code_of(lars, 30)), 1e-10);
    // A little further down there would be one more.
    Lars further(30);
    further.solve(WholeGram(problem.gram), problem.correlations.data(), problem.x.squaredNorm(),
                  {.lambda = lars.lambda() * (1 - 1e-6)});
    EXPECT_EQ(further.size(), most + 1);
  }
}

TEST(Lars, CodesNothingWhereNothingIsToBeCoded) {
  Random random(5);
  const LassoProblem problem = lasso_problem(LassoKind::random, 8, 5, random);
  const double largest = problem.correlations.cwiseAbs().maxCoeff();
  Lars lars(8);
  const auto size = [&](const Vector& correlations, LarsEnd end) {
    lars.solve(WholeGram(problem.gram), correlations.data(), problem.x.squaredNorm(), end);
    return lars.size();
  };
  EXPECT_EQ(size(problem.correlations, {.lambda = largest}), 0);
  EXPECT_EQ(size(problem.correlations, {.lambda = 0.999 * largest}), 1);
  EXPECT_EQ(size(problem.correlations, {.squared_error = problem.x.squaredNorm()}), 0);
  EXPECT_EQ(size(problem.correlations, {.atoms = 0}), 0);
  EXPECT_EQ(size(Vector::Zero(8), {}), 0);
}

TEST(Lars, OfObservedEntriesIsThatOfShorterAtoms) {
  Random random(6);
  for (int trial = 0; trial < 50; ++trial) {
    LassoProblem problem = lasso_problem(LassoKind::random, 16, 10, random);
    Matrix observed_atoms = problem.atoms;
    for (Index d = 0; d < 10; ++d)
      if (random() % 3 == 0) {
        observed_atoms.col(d).setZero();
        problem.x[d] = 0;
      }
    problem.atoms = observed_atoms;
    problem.correlations = problem.atoms * problem.x;
    problem.lambda = 0.1 * problem.correlations.cwiseAbs().maxCoeff();
    if (problem.lambda == 0) continue;
    Lars lars(16);
    lars.solve(ObservedGram(observed_atoms), problem.correlations.data(), problem.x.squaredNorm(),
               {.lambda = problem.lambda});
    EXPECT_LT(problem.violation(code_of(lars, 16)), 1e-10);
  }
}

}  // namespace
}  // namespace gsc::test
