// Assertions are on wherever sanitizers are: our own and those of Eigen, which check shapes and indices.

#include <gsc/types.h>
#include <gtest/gtest.h>

#include <string_view>

#include "math/blas.h"

namespace gsc::test {
namespace {

using namespace std::string_view_literals;

TEST(Assertions, OursRun) {
  if (GSC_SANITIZE == ""sv) GTEST_SKIP() << "for sanitized builds";
  const Matrix A = Matrix::Ones(2, 3), B = Matrix::Ones(2, 3);
  EXPECT_DEATH(product(A, B), "A.cols\\(\\) == B.rows\\(\\)");
}

TEST(Assertions, ThoseOfEigenRun) {
  if (GSC_SANITIZE == ""sv) GTEST_SKIP() << "for sanitized builds";
  Matrix A = Matrix::Ones(2, 3);
  volatile Index outside = 3;
  EXPECT_DEATH(A(0, outside) = 1, "Assertion.*(index|col)");
}

}  // namespace
}  // namespace gsc::test
