#pragma once

#include <gsc/types.h>

#include <string>

#include "cuda/queue/queue.h"

namespace gsc::cuda {

/// What a GPU could not do, and the processor may: `--device auto` goes on there.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// What `auto` says where it goes on with the processor.
inline std::string goes_on(const DeviceError& why, const std::string& device) {
  return why.what() + ("; device is '" + device + "', so the processor goes on");
}

/// What to throw where there is no room for so many bytes.
inline DeviceError out_of_memory(std::size_t bytes, const DeviceMemory& has) {
  const auto megabytes = [](std::size_t size) { return std::to_string((size + (1U << 20U) - 1) >> 20U) + " MB"; };
  return DeviceError("the GPU is out of memory: " + megabytes(bytes) + " more are needed, " + megabytes(has.free) +
                     " of " + megabytes(has.total) +
                     " are free; let others finish, lower latents, or set device to cpu");
}

}  // namespace gsc::cuda
