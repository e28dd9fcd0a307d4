#include "tasks/denoise/plan.h"

#include <gsc/words.h>

#include <algorithm>
#include <cmath>

#include "inference/cost_model.h"
#include "inference/limits.h"
#include "math/number_text.h"
#include "tasks/denoise/beta_process_plan.h"
#include "tasks/denoise/dictionary_plan.h"
#include "tasks/picture/parallel_rows.h"
#include "tasks/picture/pixel_units.h"
#include "tasks/picture/planes.h"
#include "tasks/picture/scales.h"

namespace gsc {
namespace {

/// One of the models of a quality. Models that differ make different errors, which averaging takes out.
struct Member {
  PatchMean mean;
  Index larger;  ///< pixels added to the usual patch
};

/// What a quality stands for.
struct Preset {
  Index latents, candidates, max_active;
  int passes, full_iterations, models;  ///< passes of stepwise EM; iterations of full EM
  Index train_patches;
  int nonlocal_rounds, group_rounds;
  std::vector<Index> group_larger;  ///< pixels added to the usual patch of groups, one for each size
  Index group_step, group_reach;
  Index group_most;             ///< times the usual members where patches are as good as equal
  double coarse_share;          ///< DenoisePlan::coarse_share, where noise is strong
  std::vector<Member> members;  ///< the first `models` of them; more if the user wants more, and round again
};

// What is chosen here, and below from the noise, is from the development set (docs/denoise.md, bench/denoise_set.sh).
Preset preset(Quality quality) {
  constexpr auto removed = PatchMean::remove;
  const std::vector<Member> members{{removed, 0}, {removed, 2}, {removed, -2}, {removed, 4}};
  switch (quality) {
    case Quality::fast:
      return {.latents = 256,
              .candidates = 10,
              .max_active = 5,
              .passes = 3,
              .full_iterations = 20,
              .models = 1,
              .train_patches = 60000,
              .nonlocal_rounds = 0,
              .group_rounds = 3,
              .group_larger = {-4, -1, 2},
              .group_step = 3,
              .group_reach = 20,
              .group_most = 1,
              .coarse_share = 0,
              .members = members};
    case Quality::standard:
      return {.latents = 512,
              .candidates = 10,
              .max_active = 5,
              .passes = 4,
              .full_iterations = 60,
              .models = 2,
              .train_patches = 100000,
              .nonlocal_rounds = 2,
              .group_rounds = 5,
              .group_larger = {-5, -3, -1, 1, 3},
              .group_step = 3,
              .group_reach = 24,
              .group_most = 2,
              .coarse_share = 0,
              .members = members};
    case Quality::best:
      return {.latents = 512,
              .candidates = 10,
              .max_active = 5,
              .passes = 4,
              .full_iterations = 100,
              .models = 3,
              .train_patches = 150000,
              .nonlocal_rounds = 2,
              .group_rounds = 6,
              .group_larger = {-6, -5, -4, -2, 0, 3, 6},
              .group_step = 3,
              .group_reach = 32,
              .group_most = 2,
              .coarse_share = 0.5,
              .members = members};
  }
  return {};
}

constexpr Index kSmallestPatch = 2, kSmallestGroupPatch = 3;
/// Where noise is faint large groups only blur what is fine.
constexpr Index kLargestFaintGroupPatch = 12;
/// Of the range of the picture, as a standard deviation.
constexpr double kMediumNoise = 0.08, kStrongNoise = 0.13;
/// Of the noise: what inference and groups take it for.
constexpr double kInferenceShare = 0.92, kGroupShare = 0.9;
constexpr Index kBatch = 4096;
/// Pictures with a smaller side have too few patches when they are halved.
constexpr Index kSmallestHalved = 128;

/// Where noise is strong a patch must be large to hold enough signal.
Index usual_patch(double noise_share) { return noise_share > kStrongNoise ? 10 : 8; }
Index usual_group_patch(double noise_share) {
  return noise_share > kStrongNoise ? 10 : noise_share > kMediumNoise ? 8 : 7;
}
/// Members of a group: more for larger patches, whose covariance has more directions.
Index group_members(Index patch) { return std::max<Index>(24, patch * 3); }

void check_values(const Picture& noisy, int threads) {
  const auto good = [](double value) { return std::abs(value) <= kLargestPixel; };
  for (const Matrix& channel : noisy.channels) {
    std::vector<char> bad(static_cast<std::size_t>(channel.rows()), 0);
    parallel_rows(channel.rows(), channel.cols(), threads, [&](Index row) {
      const double* values = channel.row(row).data();
      bad[static_cast<std::size_t>(row)] = std::all_of(values, values + channel.cols(), good) ? 0 : 1;
    });
    const Index row = std::find(bad.begin(), bad.end(), 1) - bad.begin();
    for (Index col = 0; row < channel.rows() && col < channel.cols(); ++col)
      if (!good(channel(row, col)))
        throw Error("the pixel in row " + std::to_string(row) + ", column " + std::to_string(col) + " (from 0) is " +
                    number_text(channel(row, col), 3) +
                    ", and denoising needs values of at most 1e15; replace such values, or scale the picture");
  }
}

bool is_flat(const Picture& picture) {
  return std::all_of(picture.channels.begin(), picture.channels.end(),
                     [](const Matrix& channel) { return (channel.array() == channel(0, 0)).all(); });
}

/// Throws unless there is something to learn from.
void check(const Picture& noisy, int threads) {
  if (std::min(noisy.height(), noisy.width()) < 2 * kSmallestPatch)
    throw Error("the picture has " + size_text(noisy) + " pixels; denoising needs at least " +
                std::to_string(2 * kSmallestPatch) + " in each direction");
  check_values(noisy, threads);
  if (is_flat(noisy)) {
    std::string pixel;
    for (const Matrix& channel : noisy.channels) pixel += (pixel.empty() ? "" : ", ") + number_text(channel(0, 0));
    throw Error("the picture is flat (every pixel is " + pixel +
                "), so there is nothing to denoise; is it the right one?");
  }
}

void set_truncation(const DenoiseOptions& options, const Preset& usual, FitOptions& fit) {
  fit.inference.candidates = options.candidates.value_or(std::min(usual.candidates, fit.latents));
  fit.inference.max_active = options.max_active.value_or(std::min(usual.max_active, fit.inference.candidates));
}

/// The factored method learns the noise level with the rest.
void refuse_told_noise(const DenoiseOptions& options) {
  if (options.sigma)
    throw UsageError("sigma is " + number_text(*options.sigma) +
                     ", but the factored method learns the noise level; leave it out");
  if (options.noise == NoiseSource::measured)
    throw UsageError("the noise is to be measured, but the factored method learns it; leave that out");
}

bool stepwise_by_default(const DenoiseOptions& options) { return traits(options.method).has_states; }

/// Rough seconds, for the plan and for progress.
void guess_seconds(const Picture& noisy, Index train_patches, ModelPlan& plan) {
  const InferenceOptions& inference = plan.fit.inference;
  const auto H = static_cast<double>(plan.fit.latents);
  const double D = static_cast<double>(plan.patch * plan.patch) * static_cast<double>(noisy.channels.size());
  const double all =
      static_cast<double>(noisy.height() * noisy.width()) / static_cast<double>(plan.stride * plan.stride);
  const double states =
      traits(inference.method).has_states ? state_count(inference.candidates, inference.max_active) : 0;
  const double posterior = kCosts.state_single * states + kCosts.product_single * D * H +
                           kCosts.selection_single * H * static_cast<double>(inference.candidates);
  const double threads = thread_count(inference.threads);
  const double steps =
      plan.fit.batch > 0 ? static_cast<double>(train_patches) / static_cast<double>(plan.fit.batch) : 1;
  const double m_step = kCosts.product_single * H * H * (H / 3 + D) * steps;
  const int iterations = std::max(1, plan.fit.iterations);
  const double e_step = static_cast<double>(train_patches) * (posterior + kCosts.product_single * D * H) / threads;
  const double averaged = kCosts.patch_value * D;
  plan.learning_seconds = 1e-9 * iterations * (e_step + m_step);
  plan.inferring_seconds =
      1e-9 * all * (posterior + averaged + plan.nonlocal_rounds * (2 * posterior + averaged)) / threads;
}

ModelPlan plan_model(const Picture& noisy, const DenoiseOptions& options, const Preset& usual, const Member& member,
                     const NoiseLevel& noise, double range) {
  const Index smaller_side = std::min(noisy.height(), noisy.width());
  const double noise_share = noise.std / range;
  const bool of_dictionary = point_estimate(options.method);
  ModelPlan plan;
  plan.noise_share = noise_share;
  const bool beta_process = by_beta_process(options.method);
  const Index usual_side = of_dictionary  ? kDictionaryPatch
                           : beta_process ? kBetaProcessPatch
                                          : usual_patch(noise_share) + member.larger;
  plan.patch = options.patch.value_or(std::clamp(usual_side, kSmallestPatch, smaller_side / 2));
  const Index positions = (noisy.height() - plan.patch + 1) * (noisy.width() - plan.patch + 1);
  if (plan.patch > smaller_side || positions < 2)
    throw UsageError("patch is " + std::to_string(plan.patch) + ", but the picture has only " + size_text(noisy) +
                     " pixels; choose smaller patches");
  plan.stride = options.stride.value_or(1);
  if (plan.stride > plan.patch)
    throw UsageError("stride is " + std::to_string(plan.stride) + ", but patches have only " +
                     std::to_string(plan.patch) + " x " + std::to_string(plan.patch) +
                     " pixels, so some of the picture would be left out; choose a smaller stride");
  plan.patch_mean = options.patch_mean.value_or(member.mean);
  plan.train_patches =
      options.train_patches.value_or(of_dictionary ? traits(options.method).picture_patches : usual.train_patches);
  // With the mean kept, patches that are wrong about their brightness are certain of it (House, sigma 15: 0.5 dB).
  plan.weights = options.weights.value_or(plan.remove_mean() ? PatchWeights::certainty : PatchWeights::equal);
  const Index available = std::min(plan.train_patches, positions);
  if (of_dictionary) {
    plan_dictionary(noisy, options, noise, range, available, plan);
    return plan;
  }
  if (beta_process) {
    plan_beta_process(noisy, options, available, plan);
    return plan;
  }
  // Few data points cannot teach many basis functions.
  plan.fit.latents = options.latents.value_or(std::clamp<Index>(available / 20, 1, usual.latents));
  set_truncation(options, usual, plan.fit);
  plan.fit.inference.method = options.method;
  if (options.method == Method::factored) {
    refuse_told_noise(options);
    plan.fit.factored = options.factored;
  }
  plan.fit.factored.shape = {plan.patch, plan.patch, static_cast<Index>(noisy.channels.size())};
  plan.fit.inference.selection = options.selection;
  plan.fit.inference.precision = options.precision;
  plan.fit.inference.threads = options.threads;
  plan.fit.inference.device = options.device;
  plan.fit.intercept = Intercept::none;
  const bool stepwise = stepwise_by_default(options);
  plan.fit.batch = options.batch.value_or(stepwise ? kBatch : 0);
  plan.fit.polish = options.polish;
  plan.fit.sharing = options.sharing;
  plan.fit.iterations = options.iterations.value_or(plan.fit.batch > 0 ? usual.passes : usual.full_iterations);
  plan.fit.tolerance = 0;
  if (options.init)
    plan.fit.init = *options.init;
  else
    plan.smoothing = std::clamp(noise_share * 10, 0.4, 2.0);
  const bool known_device = options.device == "cpu" || options.device == "auto" || options.device.rfind("cuda", 0) == 0;
  const bool can_nonlocal = traits(options.method).has_candidates && plan.stride == 1 && known_device;
  if (options.nonlocal.value_or(0) > 0 && !can_nonlocal)
    throw UsageError(
        "nonlocal is " + std::to_string(*options.nonlocal) +
        ", but priors of their own for patches need the truncated method, stride 1 and device cpu or cuda");
  plan.nonlocal_rounds = options.nonlocal.value_or(can_nonlocal ? usual.nonlocal_rounds : 0);
  const NoiseSource source = options.noise.value_or(stepwise ? NoiseSource::measured : NoiseSource::learned);
  if (source == NoiseSource::measured) {
    plan.fit.known_noise = noise_held(noise, range);
    plan.inference_noise = (plan.nonlocal_rounds > 0 ? 1 : kInferenceShare) * plan.fit.known_noise;
  }
  plan.fit.validate();
  guess_seconds(noisy, available, plan);
  return plan;
}

void plan_groups(const Picture& noisy, const DenoiseOptions& options, const Preset& usual, DenoisePlan& plan) {
  const double noise_share = plan.noise.std / plan.range;
  plan.group_rounds = options.groups.value_or(spike_and_slab(options.method) ? usual.group_rounds : 0);
  plan.group_noise = kGroupShare * noise_held(plan.noise, plan.range);
  plan.groups.step = usual.group_step;
  plan.groups.reach = usual.group_reach;
  plan.groups.threads = options.threads;
  plan.groups.team = options.sharing.team->alone() ? nullptr : options.sharing.team;
  plan.groups.sizes.clear();
  const Index smaller_side = std::min(noisy.height(), noisy.width());
  Index last = kSmallestGroupPatch - 1;
  for (const Index larger : usual.group_larger) {
    // Sizes that would fall together at the smallest take the next that is free.
    const Index patch = std::min(std::max(usual_group_patch(noise_share) + larger, last + 1),
                                 std::max(smaller_side / 2, kSmallestPatch));
    if (patch == last && !plan.groups.sizes.empty()) break;
    if (noise_share <= kMediumNoise && patch > kLargestFaintGroupPatch) break;
    last = patch;
    plan.groups.sizes.push_back({patch, group_members(patch), usual.group_most * group_members(patch)});
    const auto D = static_cast<double>(patch * patch), K = static_cast<double>(plan.groups.sizes.back().largest());
    const double references =
        static_cast<double>(noisy.height() * noisy.width()) / static_cast<double>(usual.group_step * usual.group_step);
    const double search = static_cast<double>((2 * plan.groups.reach + 1) * (2 * plan.groups.reach + 1));
    const double matching = (kCosts.difference * D + kCosts.position) * search;
    const double filter = kCosts.group_value * K * D + kCosts.group_product * K * K * (3 * D + K);
    plan.group_seconds += 1e-9 * plan.group_rounds * references * (matching + filter) *
                          static_cast<double>(noisy.channels.size()) / thread_count(options.threads);
  }
}

}  // namespace

double noise_held(const NoiseLevel& noise, double range) {
  return std::max(noise.std, (noise.told ? 1e-5 : 1e-3) * range);
}

double DenoisePlan::seconds() const {
  double sum = group_seconds;
  for (const ModelPlan& model : models) sum += model.learning_seconds + model.inferring_seconds;
  if (coarse) sum += coarse->seconds();
  return sum;
}

DenoisePlan plan_denoising(const Picture& noisy, const DenoiseOptions& options, const NoiseLevel& noise) {
  check(noisy, options.threads);
  const Preset usual = preset(options.quality);
  const int usual_models = spike_and_slab(options.method) ? usual.models : 1;
  DenoisePlan plan;
  plan.noise = noise;
  plan.range = range_of(noisy, noise.std);
  for (std::size_t i = 0; i < static_cast<std::size_t>(options.models.value_or(usual_models)); ++i) {
    plan.models.push_back(
        plan_model(noisy, options, usual, usual.members[i % usual.members.size()], noise, plan.range));
    plan.models.back().fit.seed = options.seed + i;
  }
  plan_groups(noisy, options, usual, plan);
  const bool strong = noise.std > kMediumNoise * plan.range;
  const Index smaller_half = std::min(noisy.height(), noisy.width()) / 2;
  if (usual.coarse_share > 0 && strong && spike_and_slab(options.method) && 2 * smaller_half >= kSmallestHalved &&
      smaller_half >= 2 * options.patch.value_or(0)) {
    // Of a pattern of single pixels nothing is left.
    if (const Picture half = halved(noisy); !is_flat(half)) {
      NoiseLevel of_half = noise;
      of_half.std /= 2;
      plan.coarse = std::make_shared<const DenoisePlan>(plan_denoising(half, options, of_half));
      plan.coarse_share = usual.coarse_share;
    }
  }
  return plan;
}

std::string plan_text(const DenoisePlan& plan) {
  const auto square = [](Index side) { return std::to_string(side) + " x " + std::to_string(side); };
  std::string text;
  for (const ModelPlan& model : plan.models) {
    text += (text.empty() ? "" : ", ") + square(model.patch) + " (" + std::to_string(model.fit.latents) +
            (point_estimate(model.fit.inference.method) ? " atoms, " : " latents, ") +
            std::to_string(model.fit.iterations) + (model.fit.batch > 0 ? " pass" : " iteration") +
            (model.fit.iterations == 1 ? ""
             : model.fit.batch > 0     ? "es"
                                       : "s") +
            ")";
  }
  text =
      (plan.models.size() == 1 ? "a model of patches " : std::to_string(plan.models.size()) + " models of patches ") +
      text;
  if (const int rounds = plan.models.front().nonlocal_rounds; rounds > 0)
    text += ", " + counted(rounds, "round") + " with a prior for every patch";
  if (plan.group_rounds > 0) {
    text += ", " + counted(plan.group_rounds, "round") + " of groups of ";
    for (const GroupSize& size : plan.groups.sizes)
      text += (&size == &plan.groups.sizes.front() ? "" : ", ") + square(size.patch);
  }
  if (plan.coarse) text += ", and all of it for the picture of half the size, too";
  return text;
}

}  // namespace gsc
