#include <gsc/backend/engine.h>

#include <map>
#include <mutex>

#include "inference/checks.h"
#include "math/numeric_scope.h"
#include "methods/methods.h"

namespace gsc {
namespace {

std::unique_ptr<Engine> on_the_cpu(const Data& data, const InferenceOptions& options) {
  return row_of(options.method).make_engine(data, options);
}

struct Makers {
  std::mutex mutex;
  // auto: until a build with other devices says otherwise (gsc/cuda.h).
  std::map<std::string, EngineMaker> by_device{{"auto", on_the_cpu}, {"cpu", on_the_cpu}};
};

Makers& makers() {
  static Makers all;
  return all;
}

}  // namespace

ResidentEm* Engine::resident(const Model&, const MStepOptions&) { return nullptr; }

SparsePosterior Engine::infer_sparse(const Model&, Index, Index, const OwnPriors*, const StopRequest&) {
  throw UsageError(
      "posteriors on the candidates alone, which priors of their own need, are not among what this device and method "
      "compute; set device to cpu and method to truncated");
}

void add_engine(const std::string& device, EngineMaker maker) {
  const std::lock_guard lock(makers().mutex);
  makers().by_device[device] = std::move(maker);
}

std::vector<std::string> devices() {
  const std::lock_guard lock(makers().mutex);
  std::vector<std::string> names;
  for (const auto& [name, maker] : makers().by_device) names.push_back(name);
  return names;
}

std::unique_ptr<Engine> make_engine(const Data& data, const InferenceOptions& options) {
  EngineMaker maker;
  {
    const std::lock_guard lock(makers().mutex);
    // cuda:K is cuda, which knows what K means; methods that no device has are computed on the cpu.
    const bool by_itself = options.device == "auto" && !spike_and_slab(options.method);
    const bool numbered = options.device.rfind("cuda:", 0) == 0;
    const auto found = makers().by_device.find(by_itself ? "cpu" : numbered ? "cuda" : options.device);
    if (found != makers().by_device.end()) maker = found->second;
  }
  if (maker) return maker(data, options);
  if (options.device.rfind("cuda", 0) == 0 && (options.device.size() == 4 || options.device[4] == ':'))
    throw UsageError(
        "device is '" + options.device +
        "', but this was built without GPUs; build the program with `cmake --preset cuda`, or the Python package "
        "with GSC_CUDA (docs/gpu.md), or set device to cpu");
  std::string known;
  for (const std::string& name : devices()) known += (known.empty() ? "" : ", ") + name;
  throw UsageError("device is '" + options.device + "'; here are: " + known);
}

Statistics e_step(const Model& model, const Data& data, const InferenceOptions& options, const StopRequest& stop) {
  const NumericScope scope;
  require_fit(model, data, options);
  require_rows(data);
  return make_engine(data, options)->e_step(model, {.stop = stop});
}

Posterior infer(const Model& model, const Data& data, const InferenceOptions& options, const PosteriorRequest& request,
                Index first, Index count, const StopRequest& stop) {
  const NumericScope scope;
  require_fit(model, data, options);
  require_rows(data);
  return make_engine(data, options)->infer(model, request, first, rows_asked_for(data, first, count), stop);
}

}  // namespace gsc
