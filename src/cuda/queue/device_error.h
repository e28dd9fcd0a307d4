#pragma once

#include <gsc/types.h>

#include <string>

#include "cuda/queue/queue.h"

namespace gsc::cuda {

/// What a GPU could not do, and the processor may.
class DeviceError : public Error {
 public:
  DeviceError(const std::string& what_failed, const std::string& remedy)
      : Error(what_failed + "; " + remedy), why(what_failed) {}
  std::string why;  ///< without what to do
};

/// Of a GPU that fails at work.
inline DeviceError failed_to(const std::string& what, const std::string& why) {
  return {"the GPU failed to " + what + ": " + why,
          "set device to cpu, and resume from the last checkpoint what was being learned"};
}

/// What to throw where there is no room for so many bytes.
inline DeviceError out_of_memory(std::size_t bytes, const DeviceMemory& has) {
  const auto megabytes = [](std::size_t size) { return std::to_string((size + (1U << 20U) - 1) >> 20U) + " MB"; };
  return {"the GPU is out of memory: " + megabytes(bytes) + " more are needed, " + megabytes(has.free) + " of " +
              megabytes(has.total) + " are free",
          "let others finish, lower latents, or set device to cpu"};
}

}  // namespace gsc::cuda
