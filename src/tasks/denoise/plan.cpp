#include "tasks/denoise/plan.h"

#include <gsc/words.h>

#include <algorithm>
#include <cmath>

#include "inference/cost_model.h"
#include "inference/limits.h"
#include "math/number_text.h"
#include "tasks/denoise/preset.h"
#include "tasks/picture/parallel_rows.h"
#include "tasks/picture/pixel_units.h"
#include "tasks/picture/planes.h"
#include "tasks/picture/scales.h"

namespace gsc {
namespace {

constexpr Index kSmallestPatch = 2, kSmallestGroupPatch = 3;
/// Where noise is faint large groups only blur what is fine.
constexpr Index kLargestFaintGroupPatch = 12;
/// Of the range of the picture, as a standard deviation.
constexpr double kMediumNoise = 0.08, kStrongNoise = 0.13;
/// Of the noise: what inference and groups take it for.
constexpr double kInferenceShare = 0.92, kGroupShare = 0.9;
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

/// Feature-sign search: of the noise, the best of 2, 2.5 and 3 on House at sigma 15, 25 and 50.
constexpr double kLambdaPerNoise = 2.5;
/// The noisy picture weighs peak / (this noise) patches: their 30 / sigma for pixels of 0 to 255.
constexpr double kPatchesPerNoise = 0.034 * 255;

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

void guess_dictionary_seconds(const Picture& noisy, Index train_patches, ModelPlan& plan) {
  const auto D = static_cast<double>(plan.fit.shape.rows * plan.fit.shape.cols * plan.fit.shape.channels);
  const auto H = static_cast<double>(plan.fit.latents);
  const double code = 1e-9 * (kCosts.code + kCosts.code_product * D * H) / thread_count(plan.fit.inference.threads);
  plan.learning_seconds = plan.fit.iterations * static_cast<double>(train_patches) * code;
  plan.inferring_seconds =
      static_cast<double>(noisy.height() * noisy.width()) / static_cast<double>(plan.stride * plan.stride) * code;
}

void guess_beta_process_seconds(const Picture& noisy, Index train_patches, ModelPlan& plan) {
  const auto D = static_cast<double>(plan.fit.shape.rows * plan.fit.shape.cols * plan.fit.shape.channels);
  const auto H = static_cast<double>(plan.fit.latents);
  const double sweep = kCosts.sweep_point + (2 * kCosts.product * D + kCosts.sweep_latent) * H;
  const double scale = 1e-9 / thread_count(plan.fit.inference.threads);
  plan.learning_seconds =
      scale * plan.fit.beta_process.chains * plan.fit.iterations * static_cast<double>(train_patches) * sweep;
  plan.inferring_seconds = scale * 2 * static_cast<double>(plan.fit.inference.draws) *
                           static_cast<double>(noisy.height() * noisy.width()) * kCosts.sweep_latent * H /
                           static_cast<double>(plan.stride * plan.stride);
}

/// Which patches, and how many of them. Returns how many learning will see.
Index plan_patches(const Picture& noisy, const DenoiseOptions& options, const Preset& usual, const Member& member,
                   ModelPlan& plan) {
  const Method method = options.learning.method();
  const Index smaller_side = std::min(noisy.height(), noisy.width());
  const Index usual_side = spike_and_slab(method) ? usual_patch(plan.noise_share) + member.larger : kPublishedPatch;
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
  // With the mean kept, patches that are wrong about their brightness are certain of it (House, sigma 15: 0.5 dB).
  const bool certain = spike_and_slab(method) && plan.remove_mean();
  plan.weights = options.weights.value_or(certain ? PatchWeights::certainty : PatchWeights::equal);
  plan.train_patches =
      options.train_patches.value_or(point_estimate(method) ? traits(method).picture_patches : usual.train_patches);
  return std::min(plan.train_patches, positions);
}

/// A dictionary is told the noise, and begins with cosines. In the end patches are coded as it is told, by orthogonal
/// matching pursuit if it was learned online.
void finish_dictionary(double noise, double range, bool chosen_start, ModelPlan& plan) {
  FitOptions& fit = plan.fit;
  plan.smoothing = 0;
  plan.cosines = !chosen_start && fit.shape.channels == 1;
  fit.sigma = noise;
  plan.noisy_weight = range / (kPatchesPerNoise * noise);
  CodingOptions& coding = fit.inference.coding;
  plan.usual_lambda = codes_by_lambda(fit.inference) && coding.lambda == 0;
  if (plan.usual_lambda) coding.lambda = kLambdaPerNoise * noise;
  plan.coding = coding;
  if (traits(fit.inference.method).coding) return;
  plan.coding.coding = Coding::omp;
  if (coding.coding == Coding::lasso) coding = {.coding = Coding::lasso, .lambda = coding.lambda};
}

/// Rounds in which patches have priors of their own, where that can be.
int nonlocal_rounds(const DenoiseOptions& options, const Preset& usual, const ModelPlan& plan) {
  const std::string& device = plan.fit.inference.device;
  const bool known_device = device == "cpu" || device == "auto" || device.rfind("cuda", 0) == 0;
  const bool possible = traits(plan.fit.inference.method).has_candidates && plan.stride == 1 && known_device;
  if (options.nonlocal.value_or(0) > 0 && !possible)
    throw UsageError(
        "nonlocal is " + std::to_string(*options.nonlocal) +
        ", but priors of their own for patches need the truncated method, stride 1 and device cpu or cuda");
  return options.nonlocal.value_or(possible ? usual.nonlocal_rounds : 0);
}

void finish_spike_and_slab(double noise, const DenoiseOptions& options, ModelPlan& plan) {
  const Method method = plan.fit.inference.method;
  const NoiseSource usual_source = traits(method).has_states ? NoiseSource::measured : NoiseSource::learned;
  if (options.noise.value_or(usual_source) == NoiseSource::learned) return;
  plan.fit.sigma = noise;
  plan.inference_noise = (plan.nonlocal_rounds > 0 ? 1 : kInferenceShare) * noise;
}

ModelPlan plan_model(const Picture& noisy, const DenoiseOptions& options, const Preset& usual, const Member& member,
                     const NoiseLevel& noise, double range) {
  ModelPlan plan;
  plan.noise_share = noise.std / range;
  const Index available = plan_patches(noisy, options, usual, member, plan);
  const bool chosen_start = options.learning.init.has_value();
  plan.fit = learning_options(options, available, noisy.height() * noisy.width());
  plan.fit.shape = {plan.patch, plan.patch, static_cast<Index>(noisy.channels.size())};
  if (!chosen_start) plan.smoothing = std::clamp(plan.noise_share * 10, 0.4, 2.0);
  plan.nonlocal_rounds = nonlocal_rounds(options, usual, plan);
  const Method method = options.learning.method();
  if (spike_and_slab(method))
    finish_spike_and_slab(noise_held(noise, range), options, plan);
  else if (point_estimate(method))
    finish_dictionary(noise_held(noise, range), range, chosen_start, plan);
  plan.fit.validate();
  (spike_and_slab(method)   ? guess_seconds
   : point_estimate(method) ? guess_dictionary_seconds
                            : guess_beta_process_seconds)(noisy, available, plan);
  return plan;
}

void plan_groups(const Picture& noisy, const DenoiseOptions& options, const Preset& usual, DenoisePlan& plan) {
  const double noise_share = plan.noise.std / plan.range;
  plan.group_rounds = options.groups.value_or(spike_and_slab(options.learning.method()) ? usual.group_rounds : 0);
  plan.group_noise = kGroupShare * noise_held(plan.noise, plan.range);
  plan.groups.step = usual.group_step;
  plan.groups.reach = usual.group_reach;
  plan.groups.threads = options.learning.inference.threads.value_or(0);
  plan.groups.team = options.team->alone() ? nullptr : options.team;
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
                          static_cast<double>(noisy.channels.size()) / thread_count(plan.groups.threads);
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
  const Method method = options.learning.method();
  check(noisy, options.learning.inference.threads.value_or(0));
  const Preset usual = preset_of(options.quality);
  const int usual_models = spike_and_slab(method) ? usual.models : 1;
  DenoisePlan plan;
  plan.noise = noise;
  plan.range = range_of(noisy, noise.std);
  for (std::size_t i = 0; i < static_cast<std::size_t>(options.models.value_or(usual_models)); ++i) {
    plan.models.push_back(
        plan_model(noisy, options, usual, usual.members[i % usual.members.size()], noise, plan.range));
    plan.models.back().fit.seed += i;
  }
  plan_groups(noisy, options, usual, plan);
  const bool strong = noise.std > kMediumNoise * plan.range;
  const Index smaller_half = std::min(noisy.height(), noisy.width()) / 2;
  if (usual.coarse_share > 0 && strong && spike_and_slab(method) && 2 * smaller_half >= kSmallestHalved &&
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
