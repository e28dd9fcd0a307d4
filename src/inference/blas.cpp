#include "inference/blas.h"

#include <cblas.h>

#include <cassert>

namespace gsc {

void use_one_blas_thread() { openblas_set_num_threads(1); }

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

}  // namespace gsc
