#pragma once
// A GPU where one is found, has what the model needs and room for the data, and the work is worth waking it; else the
// CPU. Decides when it sees the first model.

#include <functional>

#include "cuda/device_engine.h"

namespace gsc::cuda {

class AutoEngine final : public Engine {
 public:
  /// `make_gpu` returns null where there is no GPU that can be used.
  using MakeGpu = std::function<std::unique_ptr<Engine>(const InferenceOptions& options)>;
  AutoEngine(const Data& data, const InferenceOptions& options, MakeGpu make_gpu)
      : data_(data), options_(options), make_gpu_(std::move(make_gpu)) {}

  Statistics e_step(const Model& model, const Pass& pass) override { return engine(model).e_step(model, pass); }
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override {
    return engine(model).infer(model, request, first, count, stop);
  }
  bool has_sparse() const override { return options_.method == Method::truncated; }
  SparsePosterior infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                               const StopRequest& stop) override {
    return engine(model).infer_sparse(model, first, count, own, stop);
  }
  ResidentEm* resident(const Model& model, const MStepOptions& options) override {
    return engine(model).resident(model, options);
  }
  bool on_device() const override { return engine_ && engine_->on_device(); }

 private:
  Engine& engine(const Model& model);
  bool worth_it(const Model& model) const;

  const Data& data_;
  const InferenceOptions options_;
  MakeGpu make_gpu_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace gsc::cuda
