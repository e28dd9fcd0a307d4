#pragma once
// NVIDIA GPUs as devices (docs/gpu.md). In builds without them (preset `cuda`) there is nothing behind this header.

#include <gsc/export.h>
#include <gsc/types.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace gsc {

struct CudaDevice {
  int index = 0;  ///< K of cuda:K
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  std::size_t memory = 0;    ///< bytes
  bool usable = false;       ///< whether our kernels run on it
};

/// The GPUs of this machine. Throws Error, saying what to do, if there is no driver.
GSC_EXPORT std::vector<CudaDevice> cuda_devices();

/// From now on options.device may be `cuda`, `cuda:K`, and `auto` may mean one. Asks no GPU anything yet. `say` is
/// told, in words, where `auto` could not wake a GPU and takes the processor.
GSC_EXPORT void add_cuda_engines(std::function<void(const std::string& text)> say = {});

}  // namespace gsc
