#pragma once
// Walks rows of data in blocks, on several threads.

#include <gsc/inference.h>

#include <functional>

namespace gsc {

struct BlockPlan {
  Index first, count;  ///< rows
  Index block_rows;
  int threads;

  /// Blocks that keep a thread's working set in its cache, and no more threads than the work is worth.
  BlockPlan(Index first, Index count, Index row_doubles, double nanoseconds_per_row, int threads_wanted);
};

/// Calls body(thread, first, rows) for all blocks; each thread gets a contiguous share, so that the same number of
/// threads gives the same sums. Asks `stop` on one thread between blocks and then throws Interrupted. The first
/// exception of any thread is passed on.
void parallel_blocks(const BlockPlan& plan, const StopRequest& stop,
                     const std::function<void(int, Index, Index)>& body);

}  // namespace gsc
