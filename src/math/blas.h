#pragma once
// Matrix products and the one large linear system, through CBLAS and LAPACK, on the calling thread: whoever calls these
// holds a OneBlasThread (numeric_scope.h). Eigen alone, compiled for any x86-64, takes ten times as long.

#include <gsc/export.h>
#include <gsc/types.h>

namespace gsc {

/// C = A B, row-major, over the first `rows` rows of A and C.
GSC_EXPORT void product(Index rows, const Matrix& A, const Matrix& B, Matrix& C);
inline Matrix product(const Matrix& A, const Matrix& B) {
  Matrix C(A.rows(), B.cols());
  product(A.rows(), A, B, C);
  return C;
}

/// C += A' B over the first `rows` rows of A and B.
GSC_EXPORT void add_product_transposed(Index rows, const Matrix& A, const Matrix& B, Matrix& C);
inline void add_product_transposed(const Matrix& A, const Matrix& B, Matrix& C) {
  add_product_transposed(A.rows(), A, B, C);
}

/// target -= A' factors, over the first `rows` rows of A: so many numbers as A has columns.
GSC_EXPORT void subtract_combination(Index rows, const Matrix& A, const double* factors, double* target);

/// C = A B in single precision, over the first `rows` rows of A and C.
using SingleMatrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
GSC_EXPORT void product(Index rows, const SingleMatrix& A, const SingleMatrix& B, SingleMatrix& C);

/// Blocks of matrices.
using MatrixBlock = Eigen::Ref<Matrix, 0, Eigen::OuterStride<>>;
using ConstMatrixBlock = Eigen::Ref<const Matrix, 0, Eigen::OuterStride<>>;

/// C += A' B
GSC_EXPORT void add_product_transposed(const ConstMatrixBlock& A, const ConstMatrixBlock& B, MatrixBlock C);
/// C += factor A B
GSC_EXPORT void add_product(double factor, const ConstMatrixBlock& A, const ConstMatrixBlock& B, MatrixBlock C);
/// C = A B'
GSC_EXPORT void product_with_transposed(const ConstMatrixBlock& A, const ConstMatrixBlock& B, MatrixBlock C);
/// C += A A', its upper triangle only
GSC_EXPORT void add_square(const ConstMatrixBlock& A, MatrixBlock C);

/// out = A x, out = sum of the first `rows` rows of A, weighted: products with one vector.
GSC_EXPORT void times_vector(const Matrix& A, const double* x, double* out);
GSC_EXPORT void weighted_rows(Index rows, const Matrix& A, const double* weights, double* out);

/// Turns `rows` into X with X A = rows, A symmetric positive definite; destroys A. False if A is not.
GSC_EXPORT bool solve_positive_definite(Matrix& A, Matrix& rows);

}  // namespace gsc
