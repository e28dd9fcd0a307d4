// Denoising: learn a model from the picture's own patches, replace every patch by its posterior mean W <s.z>, average
// overlapping patches.

#include <gsc/denoise.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "tasks/denoise_plan.h"
#include "tasks/patches.h"

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

/// The weight of a patch: one over its expected squared error, as the model sees it.
Vector patch_weights(const Matrix& variances, double floor, PatchWeights kind) {
  if (kind == PatchWeights::equal) return Vector::Ones(variances.rows());
  return (variances.rowwise().mean().array() + floor).inverse();
}

struct Reconstruction {
  Picture picture, std;
};

Reconstruction reconstruct(const Picture& noisy, const Model& model, const ModelPlan& plan,
                           const DenoiseObserver& observer, DenoiseProgress progress, double share) {
  constexpr Index kBlock = 8192;
  const PatchData data(noisy, grid_positions(noisy.height(), noisy.width(), plan.patch, plan.stride),
                       plan.remove_mean());
  PatchAverager averager(data.positions(), data.channels(), true);
  const Matrix W_transposed = model.W.transpose(), W_squared = W_transposed.cwiseAbs2();
  // What is left of the noise in a patch's mean.
  const double pixels = static_cast<double>(plan.patch * plan.patch);
  const double noise = model.noise.mean_variance(), mean_variance = plan.remove_mean() ? noise / pixels : 0;
  const double start = progress.fraction;
  Matrix block, means;
  for (Index first = 0; first < data.rows(); first += kBlock) {
    const Index count = std::min(kBlock, data.rows() - first);
    block.resize(count, data.cols());
    data.read(first, block, means);
    const MatrixData rows(block);
    const Posterior posterior =
        infer(model, rows, plan.fit.inference, {.variance = true, .states = 0, .candidates = false});
    Matrix patches = posterior.mean * W_transposed;
    if (plan.remove_mean()) add_means(patches, means);
    // Var(y_d) = sum_h W_dh^2 Var(s_h z_h): the covariances between latents are left out.
    const Matrix variances = ((posterior.variance * W_squared).array() + mean_variance).matrix();
    averager.add_block(first, patches, patch_weights(variances, plan.weight_floor * noise / pixels, plan.weights),
                       variances);
    progress.fraction = start + share * static_cast<double>(first + count) / static_cast<double>(data.rows());
    if (observer && !observer(progress)) throw Interrupted("interrupted while denoising");
  }
  return {averager.result(noisy.depth), averager.std_result()};
}

/// mean += (value - mean) / count, for every pixel.
void average_in(Picture& mean, const Picture& value, int count) {
  for (std::size_t c = 0; c < mean.channels.size(); ++c)
    mean.channels[c] += (value.channels[c] - mean.channels[c]) / static_cast<double>(count);
}

}  // namespace

Denoised denoise(const Picture& noisy, const DenoiseOptions& options, const DenoiseObserver& observer) {
  options.validate();
  Denoised result;
  result.noise_estimate = estimate_noise(noisy);
  const std::vector<ModelPlan> plans = plan_denoising(noisy, options, result.noise_estimate);
  DenoiseProgress progress;
  progress.models = static_cast<int>(plans.size());
  for (const ModelPlan& plan : plans) {
    // Learning takes nearly all of the time unless the picture is much larger than what is learned from.
    const double share = 1.0 / progress.models, learning = share * plan.learning_share;
    progress.fraction = share * progress.model;
    LearningProgress watch(observer, progress, learning, plan.fit.iterations);
    Denoised::Learned learned{plan.patch, plan.patch_mean, plan.fit, learn(noisy, plan, result.noise_estimate, watch),
                              0};
    if (learned.fit.reason == StopReason::interrupted) throw Interrupted("interrupted while learning");
    progress.fraction += learning;
    const auto start = Clock::now();
    Reconstruction part = reconstruct(noisy, learned.fit.model(), plan, observer, progress, share - learning);
    learned.seconds_inferring = std::chrono::duration<double>(Clock::now() - start).count();
    ++progress.model;
    if (progress.model == 1) {
      result.picture = std::move(part.picture);
      result.std = std::move(part.std);
    } else {
      average_in(result.picture, part.picture, progress.model);
      average_in(result.std, part.std, progress.model);
    }
    result.learned.push_back(std::move(learned));
  }
  result.picture.alpha = noisy.alpha;
  return result;
}

}  // namespace gsc
