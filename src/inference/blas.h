#pragma once
// The matrix products of the E-step, through CBLAS, always on the calling thread: the parallelism is ours.

#include <gsc/types.h>

namespace gsc {

/// Tells the linked BLAS not to use threads of its own. Called before parallel work; cheap.
void use_one_blas_thread();

/// C = A B, row-major, over the first `rows` rows of A and C.
void product(Index rows, const Matrix& A, const Matrix& B, Matrix& C);

/// C += A' B over the first `rows` rows of A and B.
void add_product_transposed(Index rows, const Matrix& A, const Matrix& B, Matrix& C);
inline void add_product_transposed(const Matrix& A, const Matrix& B, Matrix& C) {
  add_product_transposed(A.rows(), A, B, C);
}

}  // namespace gsc
