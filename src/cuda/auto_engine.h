#pragma once
// A GPU where one is found, has what the model needs and room for it, and the work is worth waking it (worth_waking.h);
// else the processor. Decides once, when it sees the first model: a GPU that fails later is an error.

#include <functional>
#include <string>

#include "cuda/device_engine.h"
#include "cuda/worth_waking.h"

namespace gsc::cuda {

class AutoEngine final : public Engine {
 public:
  /// Returns null where there is no GPU that can be used.
  using MakeGpu = std::function<std::unique_ptr<DeviceEngine>(const InferenceOptions& options)>;
  /// Is told, in words, that the GPU could not be woken.
  using Say = std::function<void(const std::string& text)>;
  using Worth = std::function<bool(const Work& work)>;
  AutoEngine(const Data& data, const InferenceOptions& options, MakeGpu make_gpu, Say say = {},
             Worth worth = worth_waking)
      : data_(data),
        options_(options),
        make_gpu_(std::move(make_gpu)),
        say_(std::move(say)),
        worth_(std::move(worth)) {}

  void expect(double passes) override { passes_ = passes; }
  Statistics e_step(const Model& model, const Pass& pass) override { return chosen(&model).e_step(model, pass); }
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override {
    return chosen(&model).infer(model, request, first, count, stop);
  }
  bool has_sparse() const override { return traits(options_.method).has_candidates; }
  SparsePosterior infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                               const StopRequest& stop) override {
    return chosen(&model).infer_sparse(model, first, count, own, stop);
  }
  std::unique_ptr<ResidentEm> resident(const Model& model, const MStepOptions& options) override {
    return chosen(&model).resident(model, options);
  }
  PatchMosaic* mosaic(const Model& model, const PatchWeighting& weighting) override {
    return chosen(&model).mosaic(model, weighting);
  }
  /// Who asks without a model has found the work worth waking a GPU.
  PatchDevice* patches() override { return chosen(nullptr).patches(); }
  bool on_device() const override { return engine_ && engine_->on_device(); }

 private:
  Engine& chosen(const Model* model);
  std::unique_ptr<Engine> woken(const Model* model) const;
  bool worth_it(const Model& model) const;

  const Data& data_;
  const InferenceOptions options_;
  MakeGpu make_gpu_;
  Say say_;
  Worth worth_;
  double passes_ = 1;
  std::unique_ptr<Engine> engine_;
};

}  // namespace gsc::cuda
