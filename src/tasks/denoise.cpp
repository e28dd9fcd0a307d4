// Denoising: learn a model from the picture's own patches, replace every patch by its posterior mean W <s.z>, average
// overlapping patches.

#include <gsc/denoise.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "math/numeric_scope.h"
#include "tasks/denoise_plan.h"
#include "tasks/patches.h"
#include "tasks/reconstruct.h"

namespace gsc {
namespace {

using Clock = std::chrono::steady_clock;

/// Passes what fit() reports on to the caller, as a share of the whole work.
class LearningProgress final : public Observer {
 public:
  LearningProgress(const DenoiseObserver& observer, DenoiseProgress base, double share, int iterations)
      : observer_(observer), base_(base), share_(share), iterations_(iterations) {}
  void on_iteration(const FitState& state) override {
    if (!observer_) return;
    DenoiseProgress now = base_;
    now.fraction += share_ * state.history.back().iteration / std::max(1, iterations_);
    now.state = &state;
    stop_ = !observer_(now) || stop_;
  }
  bool stop_requested() override { return stop_; }

 private:
  const DenoiseObserver& observer_;
  DenoiseProgress base_;
  double share_;
  int iterations_;
  bool stop_ = false;
};

/// Columns of W are patches of a smoothed copy of the picture: near the data as with Init::data, but without its noise,
/// which a strong start would learn by heart.
Model start_from_smoothed(const Picture& noisy, const ModelPlan& plan, double noise, Random& random) {
  const Picture smooth = smoothed(noisy, plan.smoothing);
  const PatchData patches(smooth, grid_positions(noisy.height(), noisy.width(), plan.patch, 1), plan.remove_mean());
  const PatchData noisy_patches(noisy, patches.positions(), plan.remove_mean());
  const DataSummary summary = summarize(noisy_patches);
  Model model = initial_model(patches, summary, plan.fit.latents, plan.fit.noise, plan.fit.slab, Init::data, random);
  // The data covariance is far too much noise where the picture is stronger than its noise; this saves iterations. A
  // picture drawn by a program may have none at all.
  const double power = summary.covariance.mean();
  model.noise = Noise::scalar(std::clamp(4 * noise * noise, 1e-4 * power, power), model.dimensions());
  return model;
}

FitResult learn(const Picture& noisy, const ModelPlan& plan, double noise, Observer& observer) {
  Random random(plan.fit.seed);
  const Index height = noisy.height(), width = noisy.width();
  PatchPositions positions = grid_positions(height, width, plan.patch, 1);
  if (positions.size() > plan.train_patches)
    positions = random_positions(height, width, plan.patch, plan.train_patches, random);
  const PatchData data(noisy, std::move(positions), plan.remove_mean());
  std::optional<Model> start;
  if (plan.smoothing > 0) start = start_from_smoothed(noisy, plan, noise, random);
  return fit(data, plan.fit, &observer, std::move(start));
}

/// mean += (value - mean) / count, for every pixel.
void average_in(Picture& mean, const Picture& value, int count) {
  for (std::size_t c = 0; c < mean.channels.size(); ++c)
    mean.channels[c] += (value.channels[c] - mean.channels[c]) / static_cast<double>(count);
}

}  // namespace

Denoised denoise(const Picture& noisy, const DenoiseOptions& options, const DenoiseObserver& observer) {
  const NumericScope scope;
  options.validate();
  const double noise = estimate_noise(noisy);
  return denoise_as_planned(noisy, plan_denoising(noisy, options, noise), noise, observer);
}

Denoised denoise_as_planned(const Picture& noisy, const std::vector<ModelPlan>& plans, double noise,
                            const DenoiseObserver& observer) {
  const NumericScope scope;
  Denoised result;
  result.noise_estimate = noise;
  DenoiseProgress progress;
  progress.models = static_cast<int>(plans.size());
  const double whole = std::accumulate(plans.begin(), plans.end(), 0.0,
                                       [](double sum, const ModelPlan& plan) { return sum + plan.cost; });
  for (const ModelPlan& plan : plans) {
    const double share = plan.cost / whole, learning = share * plan.learning_share;
    LearningProgress watch(observer, progress, learning, plan.fit.iterations);
    Denoised::Learned learned{plan.patch, plan.patch_mean, plan.fit, learn(noisy, plan, noise, watch), 0};
    if (learned.fit.reason == StopReason::interrupted) throw Interrupted("interrupted while learning");
    const double begin = progress.fraction + learning, inferring = share - learning;
    progress.fraction = begin;
    const auto start = Clock::now();
    Reconstruction part = reconstruct(noisy, learned.fit.model(), plan, [&](double done) {
      progress.fraction = begin + inferring * done;
      return !observer || observer(progress);
    });
    learned.seconds_inferring = std::chrono::duration<double>(Clock::now() - start).count();
    ++progress.model;
    if (progress.model == 1) {
      result.picture = std::move(part.picture);
      result.std = std::move(part.std);
    } else {
      average_in(result.picture, part.picture, progress.model);
      average_in(result.std, part.std, progress.model);
    }
    learned.fit.state.method.columns.clear();  // as large as the data
    result.learned.push_back(std::move(learned));
  }
  result.picture.alpha = noisy.alpha;
  result.picture.metadata = noisy.metadata;
  return result;
}

}  // namespace gsc
