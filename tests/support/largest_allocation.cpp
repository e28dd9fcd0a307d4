#include "largest_allocation.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {
std::atomic<std::size_t> largest_allocation{0};
}

// Every allocation of C++ code comes through here. (Inlined, they make g++ warn that free meets new.)
[[gnu::noinline]] void* operator new(std::size_t size) {
  std::size_t seen = largest_allocation;
  while (size > seen && !largest_allocation.compare_exchange_weak(seen, size)) {
  }
  if (void* const memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size); }
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace gsc::test {

std::size_t take_largest_allocation() { return largest_allocation.exchange(0); }

}  // namespace gsc::test
