#include "cuda/auto_engine.h"

namespace gsc::cuda {

void AutoEngine::to_cpu() {
  mosaic_.there = nullptr;
  engine_.reset();  // its memory first
  InferenceOptions options = options_;
  options.device = "cpu";
  engine_ = make_engine(data_, options);
}

void AutoEngine::fall_back(const DeviceError& why) {
  to_cpu();
  if (say_) say_(goes_on(why, options_.device));
}

void AutoEngine::choose(const Model& model) {
  if (engine_) return;
  if (worth_it(model)) try {
      engine_ = make_gpu_(options_);
    } catch (const DeviceError& error) {
      fall_back(error);
    }
  if (!engine_) to_cpu();
}

/// On the GPU if that was chosen; where it fails, from the beginning on the CPU.
template <class Call>
auto AutoEngine::with(const Model& model, const Call& call) {
  choose(model);
  if (engine_->on_device()) try {
      return call(*engine_);
    } catch (const DeviceError& error) {
      if (learning_)
        learning_->go_on_here(error);
      else
        fall_back(error);
    }
  return call(*engine_);
}

Statistics AutoEngine::e_step(const Model& model, const Pass& pass) {
  return with(model, [&](Engine& engine) { return engine.e_step(model, pass); });
}

Posterior AutoEngine::infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                            const StopRequest& stop) {
  return with(model, [&](Engine& engine) { return engine.infer(model, request, first, count, stop); });
}

SparsePosterior AutoEngine::infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                                         const StopRequest& stop) {
  return with(model, [&](Engine& engine) { return engine.infer_sparse(model, first, count, own, stop); });
}

ResidentEm* AutoEngine::resident(const Model& model, const MStepOptions& options) {
  return with(model, [&](Engine& engine) -> ResidentEm* {
    ResidentEm* there = engine.resident(model, options);
    if (there == nullptr || !engine.on_device()) return there;
    learning_.emplace(*there, options, [this](const DeviceError& why) -> Engine& {
      fall_back(why);
      return *engine_;
    });
    return &*learning_;
  });
}

PatchMosaic* AutoEngine::mosaic(const Model& model, const PatchWeighting& weighting) {
  return with(model, [&](Engine& engine) -> PatchMosaic* {
    auto* able = dynamic_cast<MosaicEngine*>(&engine);
    mosaic_.there = able != nullptr ? able->mosaic(model, weighting) : nullptr;
    return mosaic_.there != nullptr ? &mosaic_ : nullptr;
  });
}

template <class Call>
bool AutoEngine::AutoMosaic::with(const Call& call) {
  if (there != nullptr) try {
      return call();
    } catch (const DeviceError& error) {
      engine_.fall_back(error);
    }
  return false;
}

bool AutoEngine::AutoMosaic::add(Index first, Index count, const OwnPriors* own, SparsePosterior* keep,
                                 const StopRequest& stop) {
  return with([&] { return there->add(first, count, own, keep, stop); });
}

bool AutoEngine::AutoMosaic::give(const PatchSums& to) {
  return with([&] { return there->give(to); });
}

bool AutoEngine::worth_it(const Model& model) const {
  if (!DeviceEngine::has(model, options_)) return false;
  const InferenceOptions all = options_.resolved(model.latents());
  Work work;
  work.points = static_cast<double>(data_.rows());
  work.dimensions = static_cast<double>(data_.cols());
  work.latents = static_cast<double>(model.latents());
  work.states = options_.method == Method::exact ? state_count(model.latents(), model.latents())
                                                 : state_count(all.candidates, all.max_active);
  work.passes = passes_;
  work.threads = thread_count(options_.threads);
  work.conditional = options_.method == Method::truncated && options_.selection == Selection::conditional;
  work.single = options_.precision == Precision::single_precision;
  return worth_(work);
}

}  // namespace gsc::cuda
