// What online learning remembers, and its step.

#include "dictionary/online_dictionary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "math/numeric_scope.h"

namespace gsc::test {
namespace {

struct Batches {
  Matrix X;  // N x D
  Eigen::SparseMatrix<double> codes;
};

Batches batches(Index N, Index D, Index H, Random& random) {
  std::normal_distribution<double> normal;
  Batches made{Matrix(N, D), {}};
  for (double& value : made.X.reshaped()) value = normal(random);
  Matrix dense = Matrix::Zero(H, N);
  for (double& value : dense.reshaped())
    if (random() % 4 == 0) value = normal(random);
  made.codes = dense.sparseView();
  return made;
}

Matrix unit_rows(Index H, Index D, Random& random) {
  std::normal_distribution<double> normal;
  Matrix atoms(H, D);
  for (double& value : atoms.reshaped()) value = normal(random);
  atoms.rowwise().normalize();
  return atoms;
}

TEST(OnlineDictionary, SumsAreThoseOfAllBatches) {
  Random random(1);
  const Index N = 60, D = 7, H = 9, batch = 20;
  const Batches all = batches(N, D, H, random);
  const Matrix a = all.codes;
  OnlineDictionary kept(unit_rows(H, D, random)), forgetting(unit_rows(H, D, random));
  for (Index first = 0; first < N; first += batch) {
    kept.add(all.X.middleRows(first, batch), all.codes.middleCols(first, batch), 1);
    forgetting.add(all.X.middleRows(first, batch), all.codes.middleCols(first, batch), 0.5);
  }
  EXPECT_LT((kept.A() - a * a.transpose() / batch).norm(), 1e-12);
  EXPECT_LT((kept.B() - a * all.X / batch).norm(), 1e-12);
  Vector weights(N);
  for (Index n = 0; n < N; ++n) weights[n] = std::pow(0.5, static_cast<double>(2 - n / batch)) / batch;
  EXPECT_LT((forgetting.A() - a * weights.asDiagonal() * a.transpose()).norm(), 1e-12);
  EXPECT_LT((forgetting.B() - a * weights.asDiagonal() * all.X).norm(), 1e-12);
}

TEST(OnlineDictionary, ScheduleWeighsBatchesByNumber) {
  EXPECT_LT(online_decay(1, 512), 0.002);
  EXPECT_NEAR(online_decay(2, 512), 513.0 / 1025, 1e-15);
  double weight = 1;  // of batch 10 after batch 40
  for (int t = 11; t <= 40; ++t) weight *= online_decay(t, 512);
  EXPECT_NEAR(weight, 10.0 / 40, 1e-3);
  EXPECT_NEAR(online_decay(512, 512), online_decay(511.999999, 512), 1e-8);  // its two parts meet
  EXPECT_GT(online_decay(1e9, 512), 0.999999);
}

TEST(OnlineDictionary, UpdateNeverRaisesTheSurrogateAndEndsAtItsMinimum) {
  const NumericScope scope;
  Random random(2);
  for (int trial = 0; trial < 20; ++trial) {
    const Index D = 3 + trial % 9, H = 2 + trial % 13;
    const Batches all = batches(80, D, H, random);
    OnlineDictionary dictionary(unit_rows(H, D, random));
    dictionary.add(all.X, all.codes, 1);
    double before = dictionary.surrogate();
    for (int pass = 0; pass < 3000; ++pass) {
      dictionary.update();
      const double now = dictionary.surrogate();
      ASSERT_LE(now, before + 1e-13 * std::abs(before));
      before = now;
      ASSERT_LE(dictionary.atoms().rowwise().norm().maxCoeff(), 1 + 1e-14);
    }
    // At the minimum the gradient G = A D - B is zero for short atoms, and points inwards for those of norm 1.
    const Matrix gradient = dictionary.A() * dictionary.atoms() - dictionary.B();
    for (Index j = 0; j < H; ++j) {
      const auto atom = dictionary.atoms().row(j);
      const double inwards = -gradient.row(j).dot(atom);
      const bool bound = atom.norm() > 1 - 1e-12;
      const double rest = bound ? (gradient.row(j) + inwards * atom).norm() : gradient.row(j).norm();
      EXPECT_LT(rest, 1e-7);
      EXPECT_GT(bound ? inwards : 0, -1e-9);
    }
  }
}

TEST(OnlineDictionary, FindsDeadAtomsAndCopiesAndReplacesThem) {
  const NumericScope scope;
  Random random(3);
  const Index D = 6, H = 5;
  Matrix atoms = unit_rows(H, D, random);
  atoms.row(3) = -0.999 * atoms.row(1) + 0.001 * atoms.row(0);
  OnlineDictionary dictionary(atoms);
  Matrix a = Matrix::Zero(H, 10);
  a.row(0).setConstant(1);
  a.row(1).setConstant(0.5);
  a.row(2).setConstant(1);
  a.row(3).setConstant(2);
  a(4, 0) = 1e-5;
  const Matrix X = Matrix::Random(10, D);
  dictionary.add(X, a.sparseView(), 1);
  EXPECT_EQ(dictionary.useless(), (std::vector<Index>{1, 4}));  // of 1 and 3 the one that is used less
  EXPECT_FALSE(dictionary.replace(1, Eigen::RowVectorXd::Zero(D)));
  EXPECT_FALSE(dictionary.replace(1, -2 * atoms.row(2))) << "a copy of another at once";
  EXPECT_TRUE(dictionary.replace(1, X.row(0)));
  EXPECT_NEAR(dictionary.atoms().row(1).norm(), 1, 1e-15);
  EXPECT_EQ(dictionary.A().row(1).norm(), 0);
  EXPECT_EQ(dictionary.A().col(1).norm(), 0);
  EXPECT_EQ(dictionary.B().row(1).norm(), 0);
}

}  // namespace
}  // namespace gsc::test
