#include "inference/parallel_blocks.h"

#include <omp.h>

#include <algorithm>

#include "math/failure.h"
#include "math/numeric_scope.h"

namespace gsc {

BlockPlan::BlockPlan(Index first_row, Index rows, Index row_doubles, double nanoseconds_per_row, int threads_wanted)
    : first(first_row), count(rows) {
  constexpr Index kCacheDoubles = 1 << 16;  // half of a common second-level cache
  constexpr Index kRowMultiple = 16;
  block_rows = std::clamp<Index>(kCacheDoubles / row_doubles / kRowMultiple * kRowMultiple, 64, 4096);
  // Starting and joining a thread costs some ten microseconds, and its sums must be cleared and added.
  constexpr double kWorthAThread = 500e3;
  const double worth = static_cast<double>(count) * nanoseconds_per_row / kWorthAThread;
  threads = static_cast<int>(std::clamp(worth, 1.0, static_cast<double>(threads_wanted)));
  // Every thread gets at least one block.
  block_rows = std::min(block_rows, (count / threads + kRowMultiple) / kRowMultiple * kRowMultiple);
}

void parallel_blocks(const BlockPlan& plan, const StopRequest& stop,
                     const std::function<void(int, Index, Index)>& body) {
  const Index blocks = (plan.count + plan.block_rows - 1) / plan.block_rows;
  Failure failure;
#pragma omp parallel num_threads(plan.threads)
  {
    const FloatingPointScope scope;  // OpenMP's threads may be older than this call and have another environment
    // The team may come out smaller than asked for; the shares stay those of plan.threads.
    for (int share = omp_get_thread_num(); share < plan.threads; share += omp_get_num_threads()) {
      const Index begin = blocks * share / plan.threads, end = blocks * (share + 1) / plan.threads;
      for (Index block = begin; block < end && !failure.failed(); ++block)
        failure.guard([&] {
          if (share == 0 && stop && stop()) throw Interrupted("interrupted");
          const Index offset = block * plan.block_rows;
          body(share, plan.first + offset, std::min(plan.block_rows, plan.count - offset));
        });
    }
  }
  failure.rethrow();
}

}  // namespace gsc
