#pragma once
// The truncated and the exact method on a device: the data lies there (device_pass.h), a model goes there, sums come
// back; or all of learning stays there (device_learning.h).
//
// What it does not have is refused by name; most probable states are computed by the
// CpuEngine that it holds.

#include <gsc/backend/engine.h>

#include <optional>
#include <string>

#include "cuda/device_learning.h"
#include "cuda/device_patches.h"
#include "inference/cached_by_model.h"
#include "inference/patch_mosaic.h"
#include "truncated/cpu_engine.h"

namespace gsc::cuda {

class DeviceEngine final : public Engine {
 public:
  DeviceEngine(const Data& data, const InferenceOptions& options, int device, Limits limits = {});
  ~DeviceEngine() override;

  /// Throws UsageError for options that it does not have.
  static void check_options(const InferenceOptions& options);
  /// Whether it has what this model and these options need.
  static bool has(const Model& model, const InferenceOptions& options);
  /// Throws UsageError where it does not, and DeviceError where this GPU has no room for the model.
  void check(const Model& model, bool own_priors = false) const;

  Statistics e_step(const Model& model, const Pass& pass) override;
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override;
  bool has_sparse() const override { return traits(options_.method).has_candidates; }
  SparsePosterior infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                               const StopRequest& stop) override;
  std::unique_ptr<ResidentEm> resident(const Model& model, const MStepOptions& options) override;
  PatchMosaic* mosaic(const Model& model, const PatchWeighting& weighting) override;
  PatchDevice* patches() override;
  bool on_device() const override { return true; }

  /// For benchmarks: the queue, and the seconds of one pass over all data whose sums stay on the device.
  Queue& queue() { return queue_; }
  double pass_seconds(const Model& model);

 private:
  class DeviceMosaic;
  void check_room(const Model& model, bool own_priors) const;
  const DeviceModel& on_device(const Model& model);
  /// Posteriors on the candidates, to the host or put back there, or both.
  void infer_candidates(const Model& model, Index first, Index count, const OwnPriors* own, SparsePosterior* result,
                        Mosaic* mosaic, const StopRequest& stop);

  const Data& data_;
  const InferenceOptions options_;
  const int device_;
  CpuEngine host_;
  Queue queue_;
  const Limits limits_;
  DevicePass pass_;
  CachedByModel<DeviceModel> model_;
  DeviceSums sums_;
  Array<double> no_rescues_;
  std::optional<DevicePatches> patches_;
  std::unique_ptr<DeviceMosaic> mosaic_;
};

}  // namespace gsc::cuda
