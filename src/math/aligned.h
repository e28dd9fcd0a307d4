#pragma once
// Memory for vectors of any width.

#include <hwy/aligned_allocator.h>

#include <cstddef>
#include <new>

namespace gsc {

/// So many numbers, which are not set. Throws std::bad_alloc, where Highway gives a null pointer.
template <class T>
hwy::AlignedFreeUniquePtr<T[]> aligned(std::size_t count) {
  auto memory = hwy::AllocateAligned<T>(count);
  if (!memory) throw std::bad_alloc();
  return memory;
}

}  // namespace gsc
