#pragma once
// A GPU where one is found, has what the model needs and room for the data, and the work is worth waking it
// (worth_waking.h); else the CPU, with which it goes on where the GPU fails. Decides when it sees the first model.

#include <functional>
#include <string>

#include "cuda/auto_learning.h"
#include "cuda/device_engine.h"
#include "cuda/worth_waking.h"
#include "inference/patch_mosaic.h"

namespace gsc::cuda {

class AutoEngine final : public Engine, public MosaicEngine {
 public:
  /// `make_gpu` returns null where there is no GPU that can be used.
  using MakeGpu = std::function<std::unique_ptr<Engine>(const InferenceOptions& options)>;
  /// Is told, in words, that the GPU has failed.
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
  Statistics e_step(const Model& model, const Pass& pass) override;
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override;
  bool has_sparse() const override { return options_.method == Method::truncated; }
  SparsePosterior infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                               const StopRequest& stop) override;
  ResidentEm* resident(const Model& model, const MStepOptions& options) override;
  PatchMosaic* mosaic(const Model& model, const PatchWeighting& weighting) override;
  bool on_device() const override { return engine_ && engine_->on_device(); }

 private:
  /// That of the GPU, until that fails.
  class AutoMosaic final : public PatchMosaic {
   public:
    explicit AutoMosaic(AutoEngine& engine) : engine_(engine) {}
    bool add(Index first, Index count, const OwnPriors* own, SparsePosterior* keep, const StopRequest& stop) override;
    bool give(const PatchSums& to) override;
    PatchMosaic* there = nullptr;

   private:
    template <class Call>
    bool with(const Call& call);
    AutoEngine& engine_;
  };

  template <class Call>
  auto with(const Model& model, const Call& call);
  void choose(const Model& model);
  bool worth_it(const Model& model) const;
  void to_cpu();
  void fall_back(const DeviceError& why);

  const Data& data_;
  const InferenceOptions options_;
  MakeGpu make_gpu_;
  Say say_;
  Worth worth_;
  double passes_ = 1;
  std::unique_ptr<Engine> engine_;
  std::optional<AutoLearning> learning_;
  AutoMosaic mosaic_{*this};
};

}  // namespace gsc::cuda
