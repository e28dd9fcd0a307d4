// Which GPUs there are, and the engines' names.

#include <cuda_runtime_api.h>
#include <gsc/backend/engine.h>
#include <gsc/cuda.h>

#include <cstdlib>
#include <utility>

#include "cuda/auto_engine.h"
#include "cuda/device_choice.h"

namespace gsc {
namespace {

/// 0 in a process of its own; under mpirun or srun, which of the processes of this machine it is.
int rank_on_this_machine() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return 0;
}

std::optional<int> any_gpu() {
  try {
    return cuda::any_gpu(cuda_devices(), rank_on_this_machine());
  } catch (const Error&) {  // no driver is no GPU
    return std::nullopt;
  }
}

}  // namespace

std::vector<CudaDevice> cuda_devices() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaErrorNoDevice) count = 0;
  if (status != cudaSuccess && status != cudaErrorNoDevice) {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    if (driver == 0) throw Error("no NVIDIA driver is installed on this machine; install it, or set device to cpu");
    throw Error("the NVIDIA driver cannot be used (" + std::string(cudaGetErrorString(status)) + "; it is for CUDA " +
                std::to_string(driver / 1000) + "." + std::to_string(driver % 1000 / 10) + ", this program for CUDA " +
                std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10) +
                "); update it, or set device to cpu");
  }
  std::vector<CudaDevice> devices;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    devices.push_back({index, properties.name, properties.major, properties.minor, properties.totalGlobalMem,
                       properties.major >= cuda::kOldestMajor});
  }
  return devices;
}

void add_cuda_engines(std::function<void(const std::string& text)> say) {
  add_engine("cuda", [](const Data& data, const InferenceOptions& options) -> std::unique_ptr<Engine> {
    cuda::DeviceEngine::check_options(options);  // before a GPU is woken
    return std::make_unique<cuda::DeviceEngine>(
        data, options, cuda::chosen_gpu(cuda_devices(), options.device, rank_on_this_machine()));
  });
  add_engine("auto",
             [say = std::move(say)](const Data& data, const InferenceOptions& options) -> std::unique_ptr<Engine> {
               const auto make_gpu = [&data](const InferenceOptions& there) -> std::unique_ptr<cuda::DeviceEngine> {
                 const std::optional<int> gpu = any_gpu();
                 return gpu ? std::make_unique<cuda::DeviceEngine>(data, there, *gpu) : nullptr;
               };
               return std::make_unique<cuda::AutoEngine>(data, options, make_gpu, say);
             });
}

}  // namespace gsc
