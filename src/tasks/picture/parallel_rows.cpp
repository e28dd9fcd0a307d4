#include "tasks/picture/parallel_rows.h"

#include <gsc/inference.h>

#include <algorithm>

#include "math/failure.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

/// A team of threads is woken for so many numbers each: it costs some microseconds.
constexpr Index kNumbersPerThread = 1 << 14;

}  // namespace

void parallel_rows(Index rows, Index columns, int threads, const std::function<void(Index)>& body) {
  const Index worth = std::max<Index>(1, rows * columns / kNumbersPerThread);
  const int team = static_cast<int>(std::min<Index>(thread_count(threads), worth));
  Failure failure;
#pragma omp parallel num_threads(team)
  {
    const FloatingPointScope floating_point;
#pragma omp for schedule(static)
    for (Index row = 0; row < rows; ++row) failure.guard([&] { body(row); });
  }
  failure.rethrow();
}

Matrix zeros(Index height, Index width, int threads) {
  Matrix result(height, width);
  parallel_rows(height, width, threads, [&](Index row) { result.row(row).setZero(); });
  return result;
}

}  // namespace gsc
