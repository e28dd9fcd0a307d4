#include "inference/patch_device.h"

#include <map>
#include <mutex>

namespace gsc {
namespace {

struct Makers {
  std::mutex mutex;
  std::map<std::string, PatchDeviceMaker> by_device;
};

Makers& makers() {
  static Makers all;
  return all;
}

}  // namespace

void add_patch_device(const std::string& device, PatchDeviceMaker maker) {
  const std::lock_guard lock(makers().mutex);
  makers().by_device[device] = std::move(maker);
}

std::unique_ptr<PatchDevice> make_patch_device(const std::string& device) {
  PatchDeviceMaker maker;
  {
    const std::lock_guard lock(makers().mutex);
    // cuda:K is cuda, which knows what K means.
    const auto found = makers().by_device.find(device.rfind("cuda:", 0) == 0 ? "cuda" : device);
    if (found != makers().by_device.end()) maker = found->second;
  }
  return maker ? maker(device) : nullptr;
}

}  // namespace gsc
