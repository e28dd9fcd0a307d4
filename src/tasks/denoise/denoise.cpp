// Denoising: learn models from the picture's own patches, replace every patch by its posterior mean W <s.z>, average
// overlapping patches; then rounds of groups of similar patches, and where noise is strong the same for the picture of
// half the size (docs/denoise.md).

#include <gsc/denoise.h>
#include <gsc/stopwatch.h>

#include <algorithm>
#include <cmath>

#include "math/numeric_scope.h"
#include "tasks/denoise/deviation.h"
#include "tasks/denoise/dictionary_plan.h"
#include "tasks/denoise/plan.h"
#include "tasks/denoise/reconstruct.h"
#include "tasks/groups/patch_groups.h"
#include "tasks/picture/patches.h"
#include "tasks/picture/scales.h"
#include "tasks/picture/smoothing.h"

namespace gsc {
namespace {

/// Passes what fit() reports on to the caller, as a share of the whole work.
class LearningProgress final : public Observer {
 public:
  LearningProgress(const DenoiseObserver& observer, DenoiseProgress base, double share, int iterations)
      : observer_(observer), base_(base), share_(share), last_(base.fraction), iterations_(iterations) {}
  void on_iteration(const FitState& state) override {
    if (!observer_) return;
    DenoiseProgress now = base_;
    now.fraction += share_ * state.history.back().iteration / std::max(1, iterations_);
    last_ = now.fraction;
    now.state = &state;
    stop_ = !observer_(now) || stop_;
  }
  /// Within a pass, too: one over a large picture takes seconds.
  bool stop_requested() override {
    if (!stop_ && observer_) {
      DenoiseProgress now = base_;
      now.fraction = last_;
      now.asking = true;
      stop_ = !observer_(now);
    }
    return stop_;
  }
  bool stopped() const { return stop_; }

 private:
  const DenoiseObserver& observer_;
  DenoiseProgress base_;
  double share_, last_;
  int iterations_;
  bool stop_ = false;
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
  const double variance = plan.fit.known_noise * plan.fit.known_noise;
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

FitResult learn(const Picture& noisy, ModelPlan& plan, double noise, Observer& observer) {
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
  return fit(data, plan.fit, &observer, std::move(start));
}

/// Where groups are computed, unless on the processor: `auto` takes a device that is there where the work is worth
/// waking it, which takes as long as half a second of a core's work with two of them.
std::unique_ptr<PatchDevice> device_of_groups(const DenoisePlan& plan, const std::string& device) {
  constexpr double kWorth = 0.5;  // seconds of a core, by the plan
  if (plan.group_rounds == 0 || plan.groups.team != nullptr) return nullptr;
  if (device == "auto" && plan.group_seconds * thread_count(plan.groups.threads) < kWorth) return nullptr;
  return make_patch_device(device);
}

/// What of the whole work is done, and what there is to show.
class Work {
 public:
  Work(const DenoisePlan& plan, const DenoiseObserver& observer) : observer_(observer), whole_(plan.seconds()) {
    now.models = static_cast<int>(plan.models.size());
  }
  /// Goes on with a part that takes so many seconds by the plan.
  void begin(double seconds) {
    before_ += part_;
    part_ = seconds / whole_;
    now.fraction = before_;
  }
  bool report(double share, bool asking = false) {
    now.fraction = before_ + part_ * share;
    now.asking = asking;
    return !observer_ || observer_(now);
  }

  DenoiseProgress now;
  double part() const { return part_; }

 private:
  const DenoiseObserver& observer_;
  double whole_, before_ = 0, part_ = 0;
};

}  // namespace

Denoised denoise(const Picture& noisy, const DenoiseOptions& options, const DenoiseObserver& observer) {
  return denoise_as_planned(noisy, plan_denoising(noisy, options), observer);
}

PlannedDenoising plan_denoising(const Picture& noisy, const DenoiseOptions& options) {
  const NumericScope scope;
  options.validate();
  const DenoisePlan plan = plan_denoising(noisy, options, noise_level(noisy, options));
  return {plan.noise, plan_text(plan), plan.seconds(), std::make_shared<const DenoisePlan>(plan)};
}

Denoised denoise_as_planned(const Picture& noisy, const PlannedDenoising& planned, const DenoiseObserver& observer) {
  return denoise_as_planned(noisy, *planned.plan, observer);
}

Denoised denoise_as_planned(const Picture& noisy, const DenoisePlan& plan, const DenoiseObserver& observer) {
  const NumericScope scope;
  const int threads = plan.groups.threads;
  Denoised result;
  result.noise = plan.noise;
  result.nonlocal_rounds = plan.models.front().nonlocal_rounds;
  result.group_rounds = plan.group_rounds;
  Work work(plan, observer);
  const auto go_on = [&](double done) { return work.report(done); };
  for (ModelPlan model : plan.models) {
    work.begin(model.learning_seconds);
    LearningProgress watch(observer, work.now, work.part(), model.fit.iterations);
    FitResult found = learn(noisy, model, plan.noise.std, watch);
    if (watch.stopped()) throw Interrupted("interrupted while learning");
    Denoised::Learned learned{model.patch, model.patch_mean, model.fit, std::move(found), 0};
    work.begin(model.inferring_seconds);
    const Stopwatch stopwatch;
    Reconstruction part = reconstruct(noisy, learned.fit.model(), model, go_on);
    learned.seconds_inferring = stopwatch.seconds();
    ++work.now.model;
    if (work.now.model == 1) {
      result.picture = std::move(part.picture);
      result.std = std::move(part.std);
    } else {
      average_in(result.picture, part.picture, work.now.model, threads);
      average_in(result.std, part.std, work.now.model, threads);
    }
    work.now.best = &result.picture;
    learned.fit.state.method.columns.clear();  // as large as the data
    result.learned.push_back(std::move(learned));
  }
  const bool has_std = !result.std.channels.empty();
  if (has_std) scale_to_residual(noisy, plan.noise, result.picture, result.std, threads);
  const Stopwatch stopwatch;
  Picture disagreement;
  const auto begin_round = [&] {
    work.begin(plan.group_seconds / plan.group_rounds);
    ++work.now.group_round;
  };
  const std::string& device = plan.models.front().fit.inference.device;
  const std::unique_ptr<PatchDevice> patches = device_of_groups(plan, device);
  GroupOptions groups = plan.groups;
  groups.device = patches.get();
  filter_in_rounds(noisy, plan.group_noise, groups, plan.group_rounds, result.picture, begin_round, go_on,
                   &disagreement);
  result.seconds_grouping = stopwatch.seconds();
  for (const DenoisePlan& half : plan.coarse) {
    work.begin(half.seconds());
    work.now.half_size = true;
    const auto watch = [&](const DenoiseProgress& now) { return work.report(now.fraction, now.asking); };
    add_coarse(denoise_as_planned(halved(noisy), half, watch).picture, plan.coarse_share, result.picture);
  }
  if (has_std && plan.group_rounds > 0 && plan.groups.sizes.size() > 1)
    combine_deviations(plan.group_noise, disagreement, result.std, threads);
  result.picture.alpha = noisy.alpha;
  result.picture.metadata = noisy.metadata;
  return result;
}

}  // namespace gsc
