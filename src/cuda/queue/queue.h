#pragma once
// A device to compute on: memory there, copies, matrix products, and kernels, one after the other in the order in which
// they are asked for. queue_cuda.cpp is a GPU; queue_emulated.cpp is this processor, for tests. What goes wrong throws
// gsc::Error.
//
// Nothing here, nor in what nvcc compiles, includes Eigen.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "cuda/queue/warp.h"

namespace gsc::cuda {

struct DeviceMemory {
  std::size_t total = 0, free = 0;
};

/// What the kernels of one name took so far.
struct KernelTime {
  std::string name;
  double milliseconds = 0;
  long launches = 0;
};

class Queue {
 public:
  explicit Queue(int device);
  ~Queue();
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  DeviceMemory memory() const;
  void* allocate(std::size_t bytes);
  void release(void* memory) noexcept;
  /// Memory of the host from which copies overlap with kernels.
  void* allocate_pinned(std::size_t bytes);
  void release_pinned(void* memory) noexcept;

  void zero(void* memory, std::size_t bytes);
  void upload(void* to, const void* from, std::size_t bytes);    ///< `from` may be reused on return
  void download(void* to, const void* from, std::size_t bytes);  ///< complete on return
  void copy(void* to, const void* from, std::size_t bytes);      ///< within the device
  /// So many bytes of each of the rows, which are `wide` bytes apart.
  void copy_rows(void* to, long to_wide, const void* from, long from_wide, long bytes, long rows);
  void wait();
  /// The same where nothing can be done about what went wrong.
  void settle() noexcept;

  /// A copy from pinned memory beside the kernels: kernels asked for later wait for it. There are two slots. `reuse`
  /// waits until the kernels that were asked for before the last `used` of the slot are done.
  void upload_beside(int slot, void* to, const void* from, std::size_t bytes);
  void used(int slot);
  void reuse(int slot);

  /// All row-major, `wide` being the numbers from row to row. C (rows x columns) = A B, or A' B with A of `inner` rows.
  /// Float in float: no shorter formats inside. `batch` such products may lie behind one another, `A_step`, `B_step`
  /// and `C_step` numbers apart.
  template <class Real>
  struct Product {
    bool transposed;
    long rows, columns, inner;
    const Real* A;
    long A_wide;
    const Real* B;
    long B_wide;
    Real* C;
    long C_wide;
    long batch = 1, A_step = 0, B_step = 0, C_step = 0;
    bool B_transposed = false;  ///< C = A B' with B of `columns` rows
  };
  void multiply(const Product<float>& product);
  void multiply(const Product<double>& product);

  /// A <- L with A = L L', in place in the lower triangle (row-major: what is read is the lower triangle); then the
  /// rows of B (`rows` x `size`) become those of B A^-1. False if A is not positive definite.
  bool solve_positive_definite(double* A, long size, double* B, long rows);

  /// Runs so many warps of a kernel, each with so many bytes of shared memory.
  template <class Body>
  void launch(const char* name, long warps, std::size_t scratch_bytes, const Body& body);
  /// Most bytes of shared memory that a warp may ask for where `warps` share a block.
  std::size_t scratch_limit(int warps) const;
  int multiprocessors() const;

  /// From now on every kernel and product is timed (which costs a little).
  void measure(bool on);
  std::vector<KernelTime> times();

 private:
  struct Impl;
  // Around every kernel and product, for measure().
  void started(const char* name);
  void launched(const char* name);
  void* stream() const;
  /// Lets a kernel have so much shared memory. Whether it may get ready while the one before ends: then it waits for
  /// that by itself (run_warps()).
  bool prepare(const void* kernel, std::size_t bytes);
  template <class Real, class Gemm>
  void multiply(const Product<Real>& product, const Gemm& gemm);

  std::unique_ptr<Impl> impl_;
};

/// Memory on the device.
template <class T>
class Array {
 public:
  Array() = default;
  Array(Queue& queue, std::size_t size) : queue_(&queue), size_(size) {
    if (size > 0) data_ = static_cast<T*>(queue.allocate(size * sizeof(T)));
  }
  ~Array() {
    if (data_ != nullptr) queue_->release(data_);
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    swap(other);
    return *this;
  }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  void zero() {
    if (size_ > 0) queue_->zero(data_, size_ * sizeof(T));
  }
  void upload(const T* from, std::size_t count) { queue_->upload(data_, from, count * sizeof(T)); }
  void upload(const std::vector<T>& from) { upload(from.data(), from.size()); }
  std::vector<T> download() const {
    std::vector<T> values(size_);
    if (size_ > 0) queue_->download(values.data(), data_, size_ * sizeof(T));
    return values;
  }
  /// At least so large; what was in it is lost if it grows.
  void reserve(Queue& queue, std::size_t size) {
    if (size_ >= size) return;
    *this = Array();
    *this = Array(queue, size);
  }

 private:
  void swap(Array& other) noexcept {
    std::swap(queue_, other.queue_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  Queue* queue_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

template <class Body>
void Queue::launch(const char* name, long warps, std::size_t scratch_bytes, const Body& body) {
  if (warps == 0) return;
  started(name);
#ifdef __CUDACC__
  const std::size_t bytes = scratch_bytes * Body::kWarps;
  const bool starts_early = prepare(reinterpret_cast<const void*>(&run_warps<Body>), bytes);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = static_cast<unsigned>((warps + Body::kWarps - 1) / Body::kWarps);
  config.blockDim = Body::kWarps * kLanes;
  config.dynamicSmemBytes = bytes;
  config.stream = static_cast<cudaStream_t>(stream());
  config.attrs = &early;
  config.numAttrs = starts_early ? 1 : 0;
  (void)cudaLaunchKernelEx(&config, run_warps<Body>, body, warps, static_cast<unsigned>(scratch_bytes));
#else
  std::vector<double> scratch(scratch_bytes / sizeof(double) + 1);
  for (long index = 0; index < warps; ++index)
    body(Warp{index, warps, reinterpret_cast<unsigned char*>(scratch.data())});
#endif
  launched(name);
}

}  // namespace gsc::cuda
