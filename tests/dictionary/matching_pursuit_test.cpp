// Orthogonal matching pursuit against brute force, and codes as infer() and impute() give them.

#include <gsc/missing.h>
#include <gtest/gtest.h>

#include <Eigen/QR>

#include <cmath>
#include <limits>

#include "dictionary/coder.h"
#include "dictionary_support.h"
#include "expect_error.h"

namespace gsc::test {
namespace {

/// What is left of x, over the observed entries, by the best coefficients of these atoms: by the normal equations, not
/// by any recurrence.
Vector residual_of(const Matrix& W, const std::vector<Index>& atoms, const Vector& x, const Vector& observed,
                   Vector* coefficients = nullptr) {
  Eigen::MatrixXd A(W.rows(), static_cast<Index>(atoms.size()));
  for (Index i = 0; i < A.cols(); ++i) A.col(i) = W.col(atoms[static_cast<std::size_t>(i)]).cwiseProduct(observed);
  const Eigen::VectorXd y = x.cwiseProduct(observed);
  if (atoms.empty()) return y;
  const Eigen::VectorXd z = A.colPivHouseholderQr().solve(y);
  if (coefficients != nullptr) *coefficients = z;
  return y - A * z;
}

/// One atom after the other, each the one that resembles the residual most.
std::vector<Index> brute_force(const Matrix& W, const Vector& x, const Vector& observed, double bound, Index most) {
  std::vector<Index> chosen;
  Vector r = x.cwiseProduct(observed);
  while (static_cast<Index>(chosen.size()) < most && r.squaredNorm() > bound) {
    Index best = -1;
    double largest = 0;
    for (Index h = 0; h < W.cols(); ++h) {
      const Vector atom = W.col(h).cwiseProduct(observed);
      if (atom.norm() == 0) continue;
      const double alike = std::abs(atom.dot(r)) / atom.norm();
      if (alike > largest) {
        largest = alike;
        best = h;
      }
    }
    chosen.push_back(best);
    r = residual_of(W, chosen, x, observed);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

class Omp : public ::testing::Test {
 protected:
  /// Codes of the rows of X against brute force; `observed` empty: all is.
  void check(const Matrix& W, const Matrix& X, const Matrix& observed, InferenceOptions options, double noise) {
    options.method = Method::ksvd;
    const Model model = dictionary_model(W, noise);
    const Index N = X.rows(), D = X.cols();
    Matrix with_gaps = X;
    for (Index i = 0; i < observed.size(); ++i)
      if (observed.data()[i] == 0) with_gaps.data()[i] = std::numeric_limits<double>::quiet_NaN();
    const MatrixData data(with_gaps);
    const Coded coded =
        code_rows(make_coder(model, options), centred_rows(data, model, Missing::nan), 0, N, W.cols(), options, {});
    const Index most = options.coding.atoms_per_point > 0 ? options.coding.atoms_per_point
                       : options.max_active > 0           ? options.max_active
                                                          : D / 2;
    for (Index n = 0; n < N; ++n) {
      SCOPED_TRACE(n);
      const Vector x = X.row(n).transpose();
      const Vector mask = observed.size() > 0 ? Vector(observed.row(n).transpose()) : Vector::Ones(D);
      const double gain = options.coding.error_gain * noise;
      const double bound = options.coding.atoms_per_point > 0 ? 0 : mask.sum() * gain * gain;
      const std::vector<Index> expected = brute_force(W, x, mask, bound, most);
      std::vector<Index> found;
      Vector values(coded.codes.col(n).nonZeros());
      for (Codes::InnerIterator entry(coded.codes, n); entry; ++entry) {
        values[static_cast<Index>(found.size())] = entry.value();
        found.push_back(entry.row());
      }
      ASSERT_EQ(found, expected);
      Vector coefficients;
      const Vector r = residual_of(W, found, x, mask, &coefficients);
      EXPECT_NEAR(coded.squared_error[n], r.squaredNorm(), 1e-10 * x.squaredNorm());
      if (!found.empty()) {
        EXPECT_LT((values - coefficients).norm(), 1e-8 * (1 + coefficients.norm()));
      }
    }
  }

  Random random_{7};
};

TEST_F(Omp, ChoosesAsBruteForceDoesUpToTheBound) {
  for (const Index H : {Index{4}, Index{9}, Index{20}}) {
    const Matrix W = random_atoms(9, H, random_);
    check(W, sparse_data(W, 200, 2, 0.1, random_), {}, {}, 0.1);
  }
}

TEST_F(Omp, ChoosesAsManyAsAsked) {
  const Matrix W = random_atoms(8, 14, random_);
  InferenceOptions options;
  options.method = Method::ksvd;
  options.coding.atoms_per_point = 3;
  check(W, sparse_data(W, 100, 3, 0.1, random_), {}, options, 0.1);
  options.coding.atoms_per_point = 0;
  options.max_active = 2;
  check(W, sparse_data(W, 100, 3, 0.1, random_), {}, options, 1e-3);
}

TEST_F(Omp, AtomsNeedNotBeOfUnitNorm) {
  Matrix W = random_atoms(8, 14, random_);
  for (Index h = 0; h < W.cols(); ++h) W.col(h) *= 0.5 + static_cast<double>(h);
  check(W, standard_normal(100, 8, random_), {}, {}, 0.2);
}

TEST_F(Omp, LeavesOutWhatIsMissing) {
  const Matrix W = random_atoms(10, 16, random_);
  const Matrix X = sparse_data(W, 200, 2, 0.1, random_);
  Matrix observed = (standard_normal(200, 10, random_).array() > -0.5).cast<double>();
  observed.row(0).setOnes();
  observed.row(1).setZero();
  check(W, X, observed, {}, 0.1);
}

TEST_F(Omp, CodesAreTheSameOnAnyNumberOfThreads) {
  const Matrix W = random_atoms(16, 40, random_);
  const MatrixData data(sparse_data(W, 3000, 3, 0.1, random_));
  const Model model = dictionary_model(W, 0.1);
  InferenceOptions options;
  options.method = Method::ksvd;
  options.method = Method::ksvd;
  options.threads = 1;
  const Matrix alone = infer(model, data, options).mean;
  options.threads = 3;
  EXPECT_EQ(alone, infer(model, data, options).mean);
}

TEST_F(Omp, AZeroDataPointHasAnEmptyCode) {
  const Matrix W = random_atoms(6, 8, random_);
  InferenceOptions options;
  options.method = Method::ksvd;
  options.method = Method::ksvd;
  const Posterior posterior = infer(dictionary_model(W, 0.1), MatrixData(Matrix::Zero(3, 6)), options);
  EXPECT_EQ(posterior.mean, Matrix::Zero(3, 8));
}

TEST_F(Omp, APointEstimateHasNoMoreThanCodes) {
  const Matrix W = random_atoms(6, 8, random_);
  const MatrixData data(sparse_data(W, 20, 2, 0.1, random_));
  const Model model = dictionary_model(W, 0.1);
  InferenceOptions options;
  options.method = Method::ksvd;
  options.method = Method::ksvd;
  const Posterior posterior = infer(model, data, options);
  EXPECT_EQ(posterior.mean.rows(), 20);
  EXPECT_EQ(posterior.probability.size() + posterior.log_likelihood.size() + posterior.variance.size(), 0);
  expect_error<UsageError>([&] { infer(model, data, options, {.variance = true}); }, {"variances", "ksvd"});
  expect_error<UsageError>([&] { infer(model, data, options, {.states = 2}); }, {"states", "ksvd"});
  expect_error<UsageError>([&] { infer(model, data, options, {.candidates = true}); }, {"candidates", "ksvd"});
  expect_error<UsageError>([&] { e_step(model, data, options); }, {"ksvd", "E-step"});
  options.device = "cuda";
  expect_error<UsageError>([&] { infer(model, data, options); }, {"device is 'cuda'", "ksvd"});
}

TEST_F(Omp, GapsAreFilledFromTheCodes) {
  const Matrix W = random_atoms(12, 8, random_);
  const Matrix whole = sparse_data(W, 100, 1, 0, random_);
  Matrix table = whole;
  for (Index n = 0; n < 100; ++n) table(n, n % 12) = std::numeric_limits<double>::quiet_NaN();
  InferenceOptions options;
  options.method = Method::ksvd;
  options.method = Method::ksvd;
  options.coding.atoms_per_point = 1;
  const Imputed imputed = impute(dictionary_model(W, 0.1), MatrixData(table), options);
  EXPECT_LT((imputed.mean - whole).cwiseAbs().maxCoeff(), 1e-10);
  EXPECT_EQ(imputed.std.size(), 0);
}

}  // namespace
}  // namespace gsc::test
