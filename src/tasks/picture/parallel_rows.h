#pragma once
// Walks the rows of a picture on several threads, each of which gets rows that lie together. What a row becomes must
// depend on no other row of the result, so that the result does not depend on threads.

#include <gsc/types.h>

#include <functional>

namespace gsc {

/// Calls body(row) for 0 <= row < rows; the first exception of any thread is passed on. `threads` as thread_count()
/// takes them; small pictures wake fewer.
void parallel_rows(Index rows, Index columns, int threads, const std::function<void(Index)>& body);

/// Memory that is touched first takes as long as arithmetic on it: that, too, is done by all threads.
Matrix zeros(Index height, Index width, int threads);

}  // namespace gsc
