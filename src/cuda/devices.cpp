// Which GPUs there are, and the engines' names.

#include <cuda_runtime_api.h>
#include <gsc/cuda.h>
#include <gsc/engine.h>

#include <charconv>
#include <cstdlib>

#include "cuda/auto_engine.h"
#include "cuda/device_patches.h"

namespace gsc {
namespace {

constexpr int kOldestMajor =
    8;  // what the kernels are compiled for, and use: reductions over a warp in one instruction

/// 0 in a process of its own; under mpirun or srun, which of the processes of this machine it is.
int rank_on_this_machine() {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* value = std::getenv(name)) return std::atoi(value);
  return 0;
}

std::string listed(const std::vector<CudaDevice>& devices) {
  std::string text;
  for (const CudaDevice& device : devices)
    text += (text.empty() ? "" : ", ") + ("cuda:" + std::to_string(device.index)) + " (" + device.name + ")";
  return text;
}

/// The GPU that options.device names; throws if it is not there or too old.
int chosen_gpu(const std::string& name) {
  const std::vector<CudaDevice> devices = cuda_devices();
  if (devices.empty())
    throw Error("device is '" + name + "', but this machine has no NVIDIA GPU; set device to cpu, or to auto");
  int index = rank_on_this_machine() % static_cast<int>(devices.size());
  if (name != "cuda") {
    const std::string number = name.substr(name.find(':') + 1);
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
    if (error != std::errc() || end != number.data() + number.size() || index < 0 ||
        index >= static_cast<int>(devices.size()))
      throw UsageError("device is '" + name + "'; here are: auto, cpu, cuda, " + listed(devices));
  }
  const CudaDevice& device = devices[static_cast<std::size_t>(index)];
  if (!device.usable)
    throw Error("device is '" + name + "', but " + device.name + " has compute capability " +
                std::to_string(device.major) + "." + std::to_string(device.minor) + ", and " +
                std::to_string(kOldestMajor) + ".0 is needed; set device to cpu");
  return index;
}

/// The first GPU that can be used, or -1.
int any_gpu() {
  try {
    const std::vector<CudaDevice> devices = cuda_devices();
    const int own = devices.empty() ? 0 : rank_on_this_machine() % static_cast<int>(devices.size());
    if (!devices.empty() && devices[static_cast<std::size_t>(own)].usable) return own;
  } catch (const Error&) {  // no driver is no GPU
  }
  return -1;
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
                       properties.major >= kOldestMajor});
  }
  return devices;
}

void add_cuda_engines() {
  add_engine("cuda", [](const Data& data, const InferenceOptions& options) -> std::unique_ptr<Engine> {
    cuda::DeviceEngine::check_options(options);  // before a GPU is woken
    return std::make_unique<cuda::DeviceEngine>(data, options, chosen_gpu(options.device));
  });
  add_engine("auto", [](const Data& data, const InferenceOptions& options) -> std::unique_ptr<Engine> {
    if (options.method == Method::factored) {
      InferenceOptions on_cpu = options;
      on_cpu.device = "cpu";
      return make_engine(data, on_cpu);
    }
    return std::make_unique<cuda::AutoEngine>(data, options, [&data](const InferenceOptions& there) {
      const int gpu = any_gpu();
      return gpu < 0 ? nullptr : std::make_unique<cuda::DeviceEngine>(data, there, gpu);
    });
  });
  add_patch_device("cuda", [](const std::string& device) -> std::unique_ptr<PatchDevice> {
    return std::make_unique<cuda::DevicePatches>(chosen_gpu(device));
  });
  add_patch_device("auto", [](const std::string&) -> std::unique_ptr<PatchDevice> {
    const int gpu = any_gpu();
    return gpu < 0 ? nullptr : std::make_unique<cuda::DevicePatches>(gpu);
  });
}

}  // namespace gsc
