// A GPU: the runtime, cuBLAS and cuSOLVER.

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusolverDn.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cuda/queue/device_error.h"

namespace gsc::cuda {
namespace {

[[noreturn]] void fail(const char* what, const std::string& why) { throw failed_to(what, why); }

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  fail(what, cudaGetErrorString(status));
}
void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS) fail(what, cublasGetStatusString(status));
}
void check(cusolverStatus_t status, const char* what) {
  if (status != CUSOLVER_STATUS_SUCCESS) fail(what, "cuSOLVER says " + std::to_string(static_cast<int>(status)));
}

}  // namespace

struct Queue::Impl {
  int device = 0;
  int processors = 0;
  std::size_t shared_limit = 0;
  cudaStream_t stream = nullptr, beside = nullptr;
  cudaEvent_t arrived[2] = {}, done[2] = {};
  cublasHandle_t blas = nullptr;  // from the first product on
  cusolverDnHandle_t solver = nullptr;
  void* solver_work = nullptr;
  int solver_work_size = 0;
  int* solver_info = nullptr;
  struct Kernel {
    std::size_t allowed_shared = 0;
    bool starts_early = false;
  };
  std::map<const void*, Kernel> kernels;

  /// Memory and kernels are those of the GPU that the calling thread has chosen.
  void choose() const { check(cudaSetDevice(device), "start"); }

  void open() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "open a stream");
    check(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), "open a stream");
    for (int slot = 0; slot < 2; ++slot) {
      check(cudaEventCreateWithFlags(&arrived[slot], cudaEventDisableTiming), "make an event");
      check(cudaEventCreateWithFlags(&done[slot], cudaEventDisableTiming), "make an event");
    }
  }

  ~Impl() {
    (void)cudaSetDevice(device);
    if (stream != nullptr) (void)cudaStreamSynchronize(stream);
    for (const Interval& interval : intervals) {
      (void)cudaEventDestroy(interval.begin);
      (void)cudaEventDestroy(interval.end);
    }
    if (solver != nullptr) (void)cusolverDnDestroy(solver);
    (void)cudaFree(solver_work);
    (void)cudaFree(solver_info);
    if (blas != nullptr) (void)cublasDestroy(blas);
    for (cudaEvent_t event : {arrived[0], arrived[1], done[0], done[1]})
      if (event != nullptr) (void)cudaEventDestroy(event);
    for (cudaStream_t opened : {beside, stream})
      if (opened != nullptr) (void)cudaStreamDestroy(opened);
  }

  cublasHandle_t products() {
    choose();
    if (blas != nullptr) return blas;
    check(cublasCreate(&blas), "start cuBLAS");
    check(cublasSetStream(blas, stream), "start cuBLAS");
    // The same bits from run to run, and float products in float.
    check(cublasSetAtomicsMode(blas, CUBLAS_ATOMICS_NOT_ALLOWED), "start cuBLAS");
    check(cublasSetMathMode(blas, CUBLAS_DEFAULT_MATH), "start cuBLAS");
    return blas;
  }

  bool measuring = false;
  struct Interval {
    std::string name;
    cudaEvent_t begin, end;
  };
  std::vector<Interval> intervals;
};

Queue::Queue(int device) : impl_(std::make_unique<Impl>()) {
  impl_->device = device;
  impl_->choose();
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "say what it is");
  impl_->processors = properties.multiProcessorCount;
  impl_->shared_limit = properties.sharedMemPerBlockOptin;
  impl_->open();
}

Queue::~Queue() = default;

DeviceMemory Queue::memory() const {
  impl_->choose();
  DeviceMemory memory;
  check(cudaMemGetInfo(&memory.free, &memory.total), "say how much memory it has");
  return memory;
}

void* Queue::allocate(std::size_t bytes) {
  impl_->choose();
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    throw out_of_memory(bytes, this->memory());
  }
  check(status, "give memory");
  return memory;
}
void Queue::release(void* memory) noexcept { (void)cudaFree(memory); }

void* Queue::allocate_pinned(std::size_t bytes) {
  impl_->choose();
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "pin memory of the host");
  return memory;
}
void Queue::release_pinned(void* memory) noexcept { (void)cudaFreeHost(memory); }

void Queue::zero(void* memory, std::size_t bytes) {
  impl_->choose();
  check(cudaMemsetAsync(memory, 0, bytes, impl_->stream), "clear memory");
}
void Queue::upload(void* to, const void* from, std::size_t bytes) {
  impl_->choose();
  // From pageable memory this returns once the bytes have been taken.
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, impl_->stream), "copy to it");
}
void Queue::download(void* to, const void* from, std::size_t bytes) {
  impl_->choose();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, impl_->stream), "copy from it");
  wait();
}
void Queue::copy(void* to, const void* from, std::size_t bytes) {
  impl_->choose();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, impl_->stream), "copy");
}
void Queue::copy_rows(void* to, long to_wide, const void* from, long from_wide, long bytes, long rows) {
  const auto size = [](long value) { return static_cast<std::size_t>(value); };
  check(cudaMemcpy2DAsync(to, size(to_wide), from, size(from_wide), size(bytes), size(rows), cudaMemcpyDeviceToDevice,
                          impl_->stream),
        "copy");
}
void Queue::settle() noexcept { (void)cudaStreamSynchronize(impl_->stream); }
void Queue::wait() { check(cudaStreamSynchronize(impl_->stream), "compute"); }

void Queue::upload_beside(int slot, void* to, const void* from, std::size_t bytes) {
  impl_->choose();
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, impl_->beside), "copy to it");
  check(cudaEventRecord(impl_->arrived[slot], impl_->beside), "copy to it");
  check(cudaStreamWaitEvent(impl_->stream, impl_->arrived[slot], 0), "copy to it");
}
void Queue::used(int slot) { check(cudaEventRecord(impl_->done[slot], impl_->stream), "compute"); }
void Queue::reuse(int slot) {
  check(cudaEventSynchronize(impl_->done[slot]), "compute");
  check(cudaEventSynchronize(impl_->arrived[slot]), "copy to it");
}

void Queue::multiply(const Product<float>& p) { multiply(p, cublasSgemmStridedBatched); }
void Queue::multiply(const Product<double>& p) { multiply(p, cublasDgemmStridedBatched); }
// cuBLAS counts by columns, so it is asked for C' = B' A'.
template <class Real, class Gemm>
void Queue::multiply(const Product<Real>& p, const Gemm& gemm) {
  cublasHandle_t blas = impl_->products();
  started("product");
  const Real one = 1, zero = 0;
  check(gemm(blas, p.B_transposed ? CUBLAS_OP_T : CUBLAS_OP_N, p.transposed ? CUBLAS_OP_T : CUBLAS_OP_N,
             static_cast<int>(p.columns), static_cast<int>(p.rows), static_cast<int>(p.inner), &one, p.B,
             static_cast<int>(p.B_wide), p.B_step, p.A, static_cast<int>(p.A_wide), p.A_step, &zero, p.C,
             static_cast<int>(p.C_wide), p.C_step, static_cast<int>(p.batch)),
        "multiply matrices");
  launched("product");
}

bool Queue::solve_positive_definite(double* A, long size, double* B, long rows) {
  started("Cholesky");
  const int n = static_cast<int>(size);
  if (impl_->solver == nullptr) {
    check(cusolverDnCreate(&impl_->solver), "start cuSOLVER");
    check(cusolverDnSetStream(impl_->solver, impl_->stream), "start cuSOLVER");
  }
  if (impl_->solver_info == nullptr) impl_->solver_info = static_cast<int*>(allocate(2 * sizeof(int)));
  int needed = 0;
  // Seen by columns the lower triangle is the upper one, and the rows of B are columns.
  check(cusolverDnDpotrf_bufferSize(impl_->solver, CUBLAS_FILL_MODE_UPPER, n, A, n, &needed), "factorise");
  if (needed > impl_->solver_work_size) {
    (void)cudaFree(impl_->solver_work);
    impl_->solver_work = nullptr;
    impl_->solver_work_size = 0;
    impl_->solver_work = allocate(static_cast<std::size_t>(needed) * sizeof(double));
    impl_->solver_work_size = needed;
  }
  check(cusolverDnDpotrf(impl_->solver, CUBLAS_FILL_MODE_UPPER, n, A, n, static_cast<double*>(impl_->solver_work),
                         impl_->solver_work_size, impl_->solver_info),
        "factorise");
  check(cusolverDnDpotrs(impl_->solver, CUBLAS_FILL_MODE_UPPER, n, static_cast<int>(rows), A, n, B, n,
                         impl_->solver_info + 1),
        "solve");
  launched("Cholesky");
  int info = 0;
  download(&info, impl_->solver_info, sizeof(info));
  return info == 0;
}

std::size_t Queue::scratch_limit(int warps) const {
  return (impl_->shared_limit - 1024) / static_cast<std::size_t>(warps) / 16 * 16;
}
int Queue::multiprocessors() const { return impl_->processors; }

void Queue::measure(bool on) { impl_->measuring = on; }

std::vector<KernelTime> Queue::times() {
  wait();
  std::vector<KernelTime> times;
  for (const Impl::Interval& interval : impl_->intervals) {
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, interval.begin, interval.end), "measure");
    (void)cudaEventDestroy(interval.begin);
    (void)cudaEventDestroy(interval.end);
    auto found = std::find_if(times.begin(), times.end(), [&](const KernelTime& t) { return t.name == interval.name; });
    if (found == times.end()) found = times.insert(times.end(), {interval.name});
    found->milliseconds += static_cast<double>(milliseconds);
    ++found->launches;
  }
  impl_->intervals.clear();
  return times;
}

void Queue::started(const char* name) {
  impl_->choose();
  if (!impl_->measuring) return;
  impl_->intervals.push_back({name, nullptr, nullptr});
  check(cudaEventCreate(&impl_->intervals.back().begin), "make an event");
  check(cudaEventCreate(&impl_->intervals.back().end), "make an event");
  check(cudaEventRecord(impl_->intervals.back().begin, impl_->stream), "measure");
}
void Queue::launched(const char* name) {
  const cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) fail((std::string("run its kernel '") + name + "'").c_str(), cudaGetErrorString(status));
  if (impl_->measuring) check(cudaEventRecord(impl_->intervals.back().end, impl_->stream), "measure");
}
void* Queue::stream() const { return impl_->stream; }

bool Queue::prepare(const void* kernel, std::size_t bytes) {
  const auto [found, first] = impl_->kernels.try_emplace(kernel);
  Impl::Kernel& known = found->second;
  if (first) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel), "say what a kernel is");
    known.starts_early = attributes.ptxVersion >= 90;  // as run_warps() was compiled
  }
  if (bytes > known.allowed_shared) {
    if (bytes > 48U << 10U)
      check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
            "give shared memory");
    known.allowed_shared = bytes;
  }
  return known.starts_early;
}

}  // namespace gsc::cuda
