#include "cuda/device_choice.h"

#include <algorithm>

namespace gsc::cuda {
namespace {

std::string listed(const std::vector<CudaDevice>& devices) {
  std::string text;
  for (const CudaDevice& device : devices)
    text += (text.empty() ? "" : ", ") + ("cuda:" + std::to_string(device.index)) + " (" + device.name + ")";
  return text;
}

}  // namespace

std::optional<int> any_gpu(const std::vector<CudaDevice>& devices, int rank) {
  std::vector<int> usable;
  for (const CudaDevice& device : devices)
    if (device.usable) usable.push_back(device.index);
  if (usable.empty()) return std::nullopt;
  return usable[static_cast<std::size_t>(std::max(rank, 0)) % usable.size()];
}

int chosen_gpu(const std::vector<CudaDevice>& devices, const Device& wanted, int rank) {
  const std::string here = "device is '" + wanted.name + "'";
  if (devices.empty()) throw Error(here + ", but this machine has no NVIDIA GPU; set device to cpu, or to auto");
  const CudaDevice* device = devices.data();  // where none can be used, the first tells why
  if (wanted.index < 0) {
    if (const std::optional<int> usable = any_gpu(devices, rank)) return *usable;
  } else {
    const auto found =
        std::find_if(devices.begin(), devices.end(), [&](const CudaDevice& one) { return one.index == wanted.index; });
    if (found == devices.end()) throw UsageError(here + "; here are: auto, cpu, cuda, " + listed(devices));
    device = &*found;
  }
  if (!device->usable)
    throw Error(here + ", but " + device->name + " has compute capability " + std::to_string(device->major) + "." +
                std::to_string(device->minor) + ", and " + std::to_string(kOldestMajor) +
                ".0 is needed; set device to cpu");
  return device->index;
}

}  // namespace gsc::cuda
