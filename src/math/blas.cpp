#include "math/blas.h"

#include <cblas.h>

#include <cassert>

extern "C" void dposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda, double* b,
                       const int* ldb, int* info);

namespace gsc {

void product(Index rows, const Matrix& A, const Matrix& B, Matrix& C) {
  assert(A.cols() == B.rows() && C.cols() == B.cols() && rows <= A.rows() && rows <= C.rows());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows), static_cast<int>(B.cols()),
              static_cast<int>(A.cols()), 1.0, A.data(), static_cast<int>(A.cols()), B.data(),
              static_cast<int>(B.cols()), 0.0, C.data(), static_cast<int>(C.cols()));
}

void add_product_transposed(Index rows, const Matrix& A, const Matrix& B, Matrix& C) {
  assert(rows <= A.rows() && rows <= B.rows() && C.rows() == A.cols() && C.cols() == B.cols());
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(A.cols()), static_cast<int>(B.cols()),
              static_cast<int>(rows), 1.0, A.data(), static_cast<int>(A.cols()), B.data(), static_cast<int>(B.cols()),
              1.0, C.data(), static_cast<int>(C.cols()));
}

void add_product_transposed(const ConstMatrixBlock& A, const ConstMatrixBlock& B, MatrixBlock C) {
  assert(A.rows() == B.rows() && C.rows() == A.cols() && C.cols() == B.cols());
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, static_cast<int>(C.rows()), static_cast<int>(C.cols()),
              static_cast<int>(A.rows()), 1.0, A.data(), static_cast<int>(A.outerStride()), B.data(),
              static_cast<int>(B.outerStride()), 1.0, C.data(), static_cast<int>(C.outerStride()));
}

void subtract_combination(Index rows, const Matrix& A, const double* factors, double* target) {
  assert(rows <= A.rows());
  if (rows == 0) return;
  cblas_dgemv(CblasRowMajor, CblasTrans, static_cast<int>(rows), static_cast<int>(A.cols()), -1.0, A.data(),
              static_cast<int>(A.cols()), factors, 1, 1.0, target, 1);
}

void product(Index rows, const SingleMatrix& A, const SingleMatrix& B, SingleMatrix& C) {
  assert(A.cols() == B.rows() && C.cols() == B.cols() && rows <= A.rows() && rows <= C.rows());
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows), static_cast<int>(B.cols()),
              static_cast<int>(A.cols()), 1.0F, A.data(), static_cast<int>(A.cols()), B.data(),
              static_cast<int>(B.cols()), 0.0F, C.data(), static_cast<int>(C.cols()));
}

void add_product(double factor, const ConstMatrixBlock& A, const ConstMatrixBlock& B, MatrixBlock C) {
  assert(A.cols() == B.rows() && C.rows() == A.rows() && C.cols() == B.cols());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(C.rows()), static_cast<int>(C.cols()),
              static_cast<int>(A.cols()), factor, A.data(), static_cast<int>(A.outerStride()), B.data(),
              static_cast<int>(B.outerStride()), 1.0, C.data(), static_cast<int>(C.outerStride()));
}

void product_with_transposed(const ConstMatrixBlock& A, const ConstMatrixBlock& B, MatrixBlock C) {
  assert(A.cols() == B.cols() && C.rows() == A.rows() && C.cols() == B.rows());
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(C.rows()), static_cast<int>(C.cols()),
              static_cast<int>(A.cols()), 1.0, A.data(), static_cast<int>(A.outerStride()), B.data(),
              static_cast<int>(B.outerStride()), 0.0, C.data(), static_cast<int>(C.outerStride()));
}

void add_square(const ConstMatrixBlock& A, MatrixBlock C) {
  assert(C.rows() == A.rows() && C.cols() == A.rows());
  cblas_dsyrk(CblasRowMajor, CblasUpper, CblasNoTrans, static_cast<int>(A.rows()), static_cast<int>(A.cols()), 1.0,
              A.data(), static_cast<int>(A.outerStride()), 1.0, C.data(), static_cast<int>(C.outerStride()));
}

void times_vector(const Matrix& A, const double* x, double* out) {
  cblas_dgemv(CblasRowMajor, CblasNoTrans, static_cast<int>(A.rows()), static_cast<int>(A.cols()), 1.0, A.data(),
              static_cast<int>(A.cols()), x, 1, 0.0, out, 1);
}

void weighted_rows(Index rows, const Matrix& A, const double* weights, double* out) {
  assert(0 < rows && rows <= A.rows());
  cblas_dgemv(CblasRowMajor, CblasTrans, static_cast<int>(rows), static_cast<int>(A.cols()), 1.0, A.data(),
              static_cast<int>(A.cols()), weights, 1, 0.0, out, 1);
}

bool solve_positive_definite(Matrix& A, Matrix& rows) {
  assert(A.rows() == A.cols() && rows.cols() == A.rows());
  // Row by row, `rows` is the column-major right-hand side of A X' = rows'.
  const int n = static_cast<int>(A.rows()), count = static_cast<int>(rows.rows());
  int info = 0;
  dposv_("L", &n, &count, A.data(), &n, rows.data(), &n, &info);
  return info == 0;
}

}  // namespace gsc
