#include "math/numeric_scope.h"

#include <cblas.h>
#include <omp.h>

#include <mutex>

namespace gsc {
namespace {

/// An OpenBLAS with threads of its own has one number for the process. One built with OpenMP takes the calling
/// thread's number from OpenMP at every call, and keeps a copy that it renews then.
bool blas_asks_openmp() { return openblas_get_parallel() == OPENBLAS_OPENMP; }

struct Holders {
  std::mutex mutex;
  int count = 0;
  int found = 1;  // BLAS threads
};

Holders& holders() {
  static Holders all;
  return all;
}

}  // namespace

FloatingPointScope::FloatingPointScope() {
  std::fegetenv(&found_);
  std::fesetenv(FE_DFL_ENV);
}

FloatingPointScope::~FloatingPointScope() { std::fesetenv(&found_); }

OneBlasThread::OneBlasThread() {
  if (blas_asks_openmp()) {
    openmp_threads_ = omp_get_max_threads();
    omp_set_num_threads(1);
    return;
  }
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  const int now = openblas_get_num_threads();
  // Another number than 1 among earlier scopes: somebody has changed it, and should find it again.
  if (all.count++ == 0 || now != 1) all.found = now;
  if (now != 1) openblas_set_num_threads(1);
}

OneBlasThread::~OneBlasThread() {
  if (openmp_threads_ > 0) {
    if (omp_get_max_threads() == 1) omp_set_num_threads(openmp_threads_);
    return;
  }
  Holders& all = holders();
  const std::lock_guard lock(all.mutex);
  if (--all.count == 0 && all.found != 1 && openblas_get_num_threads() == 1) openblas_set_num_threads(all.found);
}

}  // namespace gsc
