// This processor in place of a GPU, for tests: memory is memory, and everything is done when it is asked for.

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <new>
#include <numeric>

#include "cuda/queue/device_error.h"
#include "cuda/queue/queue_emulated.h"

namespace gsc::cuda {
namespace {

template <class Real>
void multiply_plainly(const Queue::Product<Real>& p) {
  for (long b = 0; b < p.batch; ++b) {
    const Real *A = p.A + b * p.A_step, *B = p.B + b * p.B_step;
    Real* C = p.C + b * p.C_step;
    std::vector<Real> row(static_cast<std::size_t>(p.columns));
    for (long r = 0; r < p.rows; ++r) {
      std::fill(row.begin(), row.end(), Real{0});
      for (long i = 0; i < p.inner; ++i) {
        const auto factor = static_cast<double>(p.transposed ? A[i * p.A_wide + r] : A[r * p.A_wide + i]);
        for (long c = 0; c < p.columns; ++c)
          row[static_cast<std::size_t>(c)] =  // rounded once, as on a GPU
              static_cast<Real>(factor *
                                    static_cast<double>(p.B_transposed ? B[c * p.B_wide + i] : B[i * p.B_wide + c]) +
                                static_cast<double>(row[static_cast<std::size_t>(c)]));
      }
      std::copy(row.begin(), row.end(), C + r * p.C_wide);
    }
  }
}

/// Throws once it has failed for good.
void require_working() {
  if (emulated_failure.for_good && emulated_failure.kernels == 0) throw failed_to("compute", "gone");
}

/// Memory that a kernel must not rely on before it is written: all bytes set, which as numbers are NaN.
void* poisoned(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return std::memset(memory, 0xff, bytes);
}

}  // namespace

struct Queue::Impl {};

Queue::Queue(int) : impl_(std::make_unique<Impl>()) {}
Queue::~Queue() = default;

DeviceMemory Queue::memory() const { return {std::size_t{1} << 33U, std::size_t{1} << 33U}; }
void* Queue::allocate(std::size_t bytes) {
  require_working();
  if (bytes > memory().free) throw out_of_memory(bytes, memory());
  return poisoned(bytes);
}
void Queue::release(void* memory) noexcept { std::free(memory); }
void* Queue::allocate_pinned(std::size_t bytes) { return poisoned(bytes); }
void Queue::release_pinned(void* memory) noexcept { std::free(memory); }
void Queue::zero(void* memory, std::size_t bytes) {
  require_working();
  std::memset(memory, 0, bytes);
}
void Queue::upload(void* to, const void* from, std::size_t bytes) {
  require_working();
  std::memcpy(to, from, bytes);
}
void Queue::download(void* to, const void* from, std::size_t bytes) {
  require_working();
  if (emulated_failure.downloads >= 0 && emulated_failure.downloads-- == 0) throw failed_to("copy from it", "lost");
  std::memcpy(to, from, bytes);
}
void Queue::copy(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void Queue::copy_rows(void* to, long to_wide, const void* from, long from_wide, long bytes, long rows) {
  for (long row = 0; row < rows; ++row)
    std::memcpy(static_cast<char*>(to) + row * to_wide, static_cast<const char*>(from) + row * from_wide,
                static_cast<std::size_t>(bytes));
}
void Queue::wait() { require_working(); }
void Queue::settle() noexcept {}
void Queue::upload_beside(int, void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
void Queue::used(int) {}
void Queue::reuse(int) {}
void Queue::multiply(const Product<float>& product) { multiply_plainly(product); }
void Queue::multiply(const Product<double>& product) { multiply_plainly(product); }

bool Queue::solve_positive_definite(double* A, long size, double* B, long rows) {
  for (long i = 0; i < size; ++i)
    for (long j = 0; j <= i; ++j) {
      double sum = A[i * size + j];
      for (long k = 0; k < j; ++k) sum -= A[i * size + k] * A[j * size + k];
      if (i == j && !(sum > 0)) return false;
      A[i * size + j] = i == j ? std::sqrt(sum) : sum / A[j * size + j];
    }
  for (long r = 0; r < rows; ++r) {
    double* b = B + r * size;
    for (long i = 0; i < size; ++i) {
      for (long k = 0; k < i; ++k) b[i] -= A[i * size + k] * b[k];
      b[i] /= A[i * size + i];
    }
    for (long i = size - 1; i >= 0; --i) {
      for (long k = i + 1; k < size; ++k) b[i] -= A[k * size + i] * b[k];
      b[i] /= A[i * size + i];
    }
  }
  return true;
}

std::size_t Queue::scratch_limit(int warps) const {
  return (std::size_t{227} << 10U) / static_cast<std::size_t>(warps);
}
int Queue::multiprocessors() const { return 2; }
void Queue::measure(bool) {}
std::vector<KernelTime> Queue::times() { return {}; }
void Queue::started(const char* name) {
  require_working();
  if (emulated_failure.kernels == 0) throw failed_to("run its kernel '" + std::string(name) + "'", "too little memory");
  if (emulated_failure.kernels > 0) --emulated_failure.kernels;
}
void Queue::launched(const char*) {}
void* Queue::stream() const { return nullptr; }

}  // namespace gsc::cuda
