#include "devices.h"

#include <fmt/format.h>
#include <gsc/cuda.h>
#include <gsc/inference.h>
#include <unistd.h>

#include <atomic>

#include "streams.h"

namespace gsc::cli {

void add_devices() {
#ifdef GSC_HAS_CUDA
  add_cuda_engines([](const std::string& text) {
    static std::atomic<bool> said = false;  // restarts side by side may all say it
    // On a terminal in place of the live line of progress.
    if (!said.exchange(true)) talk(fmt::format("{}gsc: {}\n", isatty(STDERR_FILENO) == 1 ? "\r\033[K" : "", text));
  });
#endif
}

Json devices_json() {
  Json json{{"cpu", {{"threads", thread_count(0)}}}, {"gpus", Json::array()}, {"no_gpu_because", nullptr}};
#ifdef GSC_HAS_CUDA
  try {
    for (const CudaDevice& device : cuda_devices())
      json["gpus"].push_back({{"device", fmt::format("cuda:{}", device.index)},
                              {"name", device.name},
                              {"compute_capability", fmt::format("{}.{}", device.major, device.minor)},
                              {"bytes", device.memory},
                              {"usable", device.usable}});
    if (json["gpus"].empty()) json["no_gpu_because"] = "this machine has no NVIDIA GPU";
  } catch (const Error& error) {
    json["no_gpu_because"] = error.what();
  }
#else
  json["no_gpu_because"] = "this gsc was built without GPUs; build it with `cmake --preset cuda` (docs/gpu.md)";
#endif
  return json;
}

std::string devices_text(const Json& devices) {
  std::string text = fmt::format("cpu     {} threads\n", devices["cpu"]["threads"].get<int>());
  for (const Json& gpu : devices["gpus"])
    text += fmt::format("{:<7} {}, {:.1f} GB, compute capability {}{}\n", gpu["device"].get<std::string>(),
                        gpu["name"].get<std::string>(), gpu["bytes"].get<double>() / 1e9,
                        gpu["compute_capability"].get<std::string>(),
                        gpu["usable"].get<bool>() ? "" : ": too old, 8.0 is needed");
  if (const Json& reason = devices["no_gpu_because"]; !reason.is_null())
    text += fmt::format("no GPU: {}\n", reason.get<std::string>());
  return text;
}

}  // namespace gsc::cli
