// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.

#include "cuda/cholesky.h"

#include "cuda/kernels/cholesky_kernels.h"

namespace gsc::cuda {

bool Cholesky::solve(double* A, long size, double* B, long rows, double* X, long X_rows, long X_wide) {
  // Larger ones are left to cuSOLVER, whose blocks are larger.
  constexpr long kOwn = 1024;
  if (size > kOwn) {
    if (!queue_.solve_positive_definite(A, size, B, rows)) return false;
    queue_.copy_rows(X, X_wide * static_cast<long>(sizeof(double)), B, size * static_cast<long>(sizeof(double)),
                     X_wide * static_cast<long>(sizeof(double)), X_rows);
    return true;
  }
  inverse_.reserve(queue_, static_cast<std::size_t>(size * size));
  queue_.zero(inverse_.data(), static_cast<std::size_t>(size * size) * sizeof(double));
  failed_.zero();
  const int blocks = static_cast<int>(size / kLanes), right = static_cast<int>(rows / kLanes);
  const StackedTables stack{{A, size}, {B, size}, {inverse_.data(), size}, blocks, right};
  for (int j = 0; j < blocks; ++j) {
    queue_.launch("Cholesky", stack.count(j), 0, PanelKernel{stack, j, failed_.data()});
    queue_.launch("Cholesky", stack.count(j) * (blocks - j - 1), UpdateKernel::kScratch, UpdateKernel{stack, j});
  }
  Queue::Product<double> product{false, X_rows, X_wide, size, B, size, inverse_.data(), size, X, X_wide};
  product.B_transposed = true;
  queue_.multiply(product);
  return failed_.download()[0] == 0;
}

}  // namespace gsc::cuda
