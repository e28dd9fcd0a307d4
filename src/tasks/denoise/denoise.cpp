// Denoising: learn models from the picture's own patches, replace every patch by its posterior mean W <s.z>, average
// overlapping patches; then rounds of groups of similar patches, and where noise is strong the same for the picture of
// half the size (docs/denoise.md).

#include <gsc/denoise.h>
#include <gsc/stopwatch.h>

#include <algorithm>
#include <cmath>

#include "math/numeric_scope.h"
#include "tasks/denoise/deviation.h"
#include "tasks/denoise/plan.h"
#include "tasks/denoise/preset.h"
#include "tasks/denoise/reconstruct.h"
#include "tasks/groups/patch_groups.h"
#include "tasks/picture/patches.h"
#include "tasks/picture/scales.h"
#include "tasks/picture/smoothing.h"

namespace gsc {
namespace {

/// Passes what fit() reports on to the caller, as a share of the whole work.
class LearningProgress final : public Watcher {
 public:
  LearningProgress(Watcher* watcher, const Progress& base, double share, int iterations)
      : watcher_(watcher), base_(base), share_(share), iterations_(iterations) {}
  void on_iteration(const FitState& state) override {
    if (watcher_ == nullptr) return;
    Progress now = base_;
    now.fraction += share_ * state.history.back().iteration / std::max(1, iterations_);
    now.state = &state;
    watcher_->on_progress(now);
  }
  /// Within a pass, too: one over a large picture takes seconds.
  bool stop_requested() override { return watcher_ != nullptr && watcher_->stop_requested(); }

 private:
  Watcher* watcher_;
  Progress base_;
  double share_;
  int iterations_;
};

/// All patches, or of a large picture so many that lie on a grid: what starts need to know of them is not much.
PatchPositions summarized_positions(const Picture& picture, Index patch) {
  constexpr Index kEnough = Index{1} << 18;
  Index stride = 1;
  const auto positions = [&] { return grid_positions(picture.height(), picture.width(), patch, stride); };
  while (stride < patch && positions().size() > kEnough) ++stride;
  return positions();
}

/// Columns of W are patches of a smoothed copy of the picture: near the data as with Init::data, but without its noise,
/// which a strong start would learn by heart.
Model start_from_smoothed(const Picture& noisy, const ModelPlan& plan, double noise, Random& random) {
  const Picture smooth = smoothed(noisy, plan.smoothing, plan.fit.inference.threads);
  const PatchData patches(smooth, grid_positions(noisy.height(), noisy.width(), plan.patch, 1), plan.remove_mean());
  const PatchData noisy_patches(noisy, summarized_positions(noisy, plan.patch), plan.remove_mean());
  const DataSummary summary = summarize(noisy_patches, false, false, thread_count(plan.fit.inference.threads));
  Model model = initial_model(patches, summary, plan.fit.latents, plan.fit.noise, plan.fit.slab, Init::data, random);
  // The data covariance is far too much noise where the picture is stronger than its noise; this saves iterations. A
  // picture drawn by a program may have none at all.
  const double power = summary.covariance.mean();
  model.noise = Noise::scalar(std::clamp(4 * noise * noise, 1e-4 * power, power), model.dimensions());
  return model;
}

/// Cosines; what else a model has follows from the codes.
Model cosine_start(const ModelPlan& plan) {
  const Index H = plan.fit.latents, D = plan.patch * plan.patch;
  const double variance = plan.fit.sigma * plan.fit.sigma;
  // Patches without their means have nothing of the constant one, which is a waste where there are few.
  const bool constant = !plan.remove_mean() || H >= D;
  return {cosine_atoms(plan.patch, H, constant),
          {},
          {},
          Vector::Constant(H, 0.1),
          Vector::Zero(H),
          Slab::diagonal(Vector::Ones(H)),
          Noise::scalar(variance, D)};
}

/// A lambda that follows from the noise is no reason to refuse a picture in which there is hardly more than that: where
/// it would leave no code at the start, it is half of the largest that leaves one.
void lower_to_useful(const Data& patches, const std::optional<Model>& start, FitOptions& fit) {
  Model model;
  if (start) {
    model = *start;
  } else {
    Random random(fit.seed);
    model =
        initial_model(patches, summarize(patches), fit.latents, fit.noise, fit.slab, fit.init, random, fit.intercept);
  }
  model.W.colwise().normalize();
  const double largest = largest_useful_lambda(model, patches);
  double& lambda = fit.inference.coding.lambda;
  if (lambda < largest) return;
  if (!(largest > 0)) throw Error("the patches of the picture are flat, so there is nothing to learn from");
  lambda = largest / 2;
}

FitResult learn(const Picture& noisy, ModelPlan& plan, double noise, Watcher& watcher) {
  Random random(plan.fit.seed);
  const Index height = noisy.height(), width = noisy.width();
  PatchPositions positions = grid_positions(height, width, plan.patch, 1);
  if (positions.size() > plan.train_patches)
    positions = random_positions(height, width, plan.patch, plan.train_patches, random);
  const PatchData data(noisy, std::move(positions), plan.remove_mean());
  std::optional<Model> start;
  if (plan.smoothing > 0) start = start_from_smoothed(noisy, plan, noise, random);
  if (plan.cosines) start = cosine_start(plan);
  if (plan.usual_lambda) {
    lower_to_useful(data, start, plan.fit);
    plan.coding.lambda = plan.fit.inference.coding.lambda;
  }
  return fit(data, plan.fit, &watcher, std::move(start));
}

/// Where groups are computed, unless on the processor: `auto` takes a device that is there where the work is worth
/// waking it, which takes as long as half a second of a core's work with two of them.
std::unique_ptr<PatchDevice> device_of_groups(const DenoisePlan& plan, const std::string& device) {
  constexpr double kWorth = 0.5;  // seconds of a core, by the plan
  if (plan.group_rounds == 0 || plan.groups.team != nullptr) return nullptr;
  if (device == "auto" && plan.group_seconds * thread_count(plan.groups.threads) < kWorth) return nullptr;
  return make_patch_device(device);
}

/// What of the whole work is done. It watches the part that is a denoising itself.
class Work final : public Watcher {
 public:
  Work(const DenoisePlan& plan, Watcher* watcher) : watcher_(watcher), whole_(plan.seconds()) {
    now.models = static_cast<int>(plan.models.size());
    now.rounds = plan.group_rounds;
  }
  /// Goes on with a part that takes so many seconds by the plan.
  void begin(double seconds) {
    before_ += part_;
    part_ = seconds / whole_;
    now.fraction = before_;
  }
  /// Whether to stop.
  bool report(double share) {
    now.fraction = before_ + part_ * share;
    if (watcher_ != nullptr) watcher_->on_progress(now);
    return stop_requested();
  }
  void on_progress(const Progress& of_part) override { report(of_part.fraction); }
  bool stop_requested() override { return watcher_ != nullptr && watcher_->stop_requested(); }

  Progress now;
  double part() const { return part_; }

 private:
  Watcher* watcher_;
  double whole_, before_ = 0, part_ = 0;
};

void denoise_into(Denoised& result, const Picture& noisy, const DenoisePlan& plan, Watcher* watcher) {
  const int threads = plan.groups.threads;
  result.noise = plan.noise;
  result.nonlocal_rounds = plan.models.front().nonlocal_rounds;
  result.group_rounds = plan.group_rounds;
  Work work(plan, watcher);
  const auto stop_at = [&](double done) { return work.report(done); };
  for (ModelPlan model : plan.models) {
    work.begin(model.learning_seconds);
    LearningProgress watch(watcher, work.now, work.part(), model.fit.iterations);
    FitResult found = learn(noisy, model, plan.noise.std, watch);
    if (found.reason == StopReason::interrupted) throw Interrupted("interrupted while learning");
    Denoised::Learned learned{model.patch, model.patch_mean, model.fit, std::move(found), 0};
    work.begin(model.inferring_seconds);
    const Stopwatch stopwatch;
    Reconstruction part = reconstruct(noisy, learned.fit.model(), model, stop_at);
    learned.seconds_inferring = stopwatch.seconds();
    learned.clamped_pivots = part.clamped_pivots;
    ++work.now.model;
    if (work.now.model == 1) {
      result.picture = std::move(part.picture);
      result.std = std::move(part.std);
    } else {
      average_in(result.picture, part.picture, work.now.model, threads);
      average_in(result.std, part.std, work.now.model, threads);
    }
    learned.fit.state.method.columns.clear();  // as large as the data
    result.learned.push_back(std::move(learned));
  }
  const bool has_std = !result.std.channels.empty();
  if (has_std) scale_to_residual(noisy, plan.noise, result.picture, result.std, threads);
  const Stopwatch stopwatch;
  Picture disagreement;
  const auto begin_round = [&] {
    work.begin(plan.group_seconds / plan.group_rounds);
    ++work.now.round;
  };
  const std::string& device = plan.models.front().fit.inference.device;
  const std::unique_ptr<PatchDevice> patches = device_of_groups(plan, device);
  GroupOptions groups = plan.groups;
  groups.device = patches.get();
  filter_in_rounds(noisy, plan.group_noise, groups, plan.group_rounds, result.picture, begin_round, stop_at,
                   &disagreement);
  result.seconds_grouping = stopwatch.seconds();
  if (plan.coarse) {
    work.begin(plan.coarse->seconds());
    work.now.half_size = true;
    add_coarse(denoise_as_planned(halved(noisy), *plan.coarse, &work).picture, plan.coarse_share, result.picture);
  }
  if (has_std && plan.group_rounds > 0 && plan.groups.sizes.size() > 1)
    combine_deviations(plan.group_noise, disagreement, result.std, threads);
  result.picture.alpha = noisy.alpha;
  result.picture.metadata = noisy.metadata;
}

}  // namespace

Denoised denoise(const Picture& noisy, const DenoiseOptions& options, Watcher* watcher) {
  return denoise_as_planned(noisy, plan_denoising(noisy, options), watcher);
}

PlannedDenoising plan_denoising(const Picture& noisy, const DenoiseOptions& options) {
  const NumericScope scope;
  options.validate();
  const DenoisePlan plan = plan_denoising(noisy, options, noise_level(noisy, options));
  return {plan.noise, plan_text(plan), plan.seconds(), std::make_shared<const DenoisePlan>(plan)};
}

Denoised denoise_as_planned(const Picture& noisy, const PlannedDenoising& planned, Watcher* watcher) {
  return denoise_as_planned(noisy, *planned.plan, watcher);
}

Denoised denoise_as_planned(const Picture& noisy, const DenoisePlan& plan, Watcher* watcher) {
  const NumericScope scope;
  Denoised result;
  try {
    denoise_into(result, noisy, plan, watcher);
  } catch (Interrupted& error) {
    error.picture = result.picture.channels.empty() ? nullptr : std::make_shared<const Picture>(result.picture);
    throw;
  }
  return result;
}

}  // namespace gsc
