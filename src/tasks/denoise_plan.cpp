#include "tasks/denoise_plan.h"

#include <algorithm>
#include <cmath>

namespace gsc {
namespace {

/// What a quality stands for.
struct Preset {
  Index latents, candidates, max_active;
  int iterations, models;
};

Preset preset(Quality quality) {
  switch (quality) {
    case Quality::fast:
      return {256, 8, 4, 20, 1};
    case Quality::standard:
      return {512, 10, 5, 60, 2};
    case Quality::best:
      return {512, 10, 5, 100, 4};
  }
  return {};
}

constexpr Index kSmallestPatch = 2;

/// Where noise is strong a patch must be large to hold enough signal. Chosen on House.
Index usual_patch(double noise_share) { return noise_share > 0.13 ? 12 : noise_share > 0.08 ? 10 : 8; }

}  // namespace

std::vector<ModelPlan> plan_denoising(const Picture& noisy, const DenoiseOptions& options, double noise) {
  const Index smaller_side = std::min(noisy.height(), noisy.width());
  if (smaller_side < 2 * kSmallestPatch)
    throw Error("the picture has " + std::to_string(noisy.height()) + " x " + std::to_string(noisy.width()) +
                " pixels; denoising needs at least " + std::to_string(2 * kSmallestPatch) + " in each direction");
  const double mean = noisy.channels[0].mean();
  const bool flat = std::all_of(noisy.channels.begin(), noisy.channels.end(),
                                [](const Matrix& channel) { return channel.maxCoeff() == channel.minCoeff(); });
  if (flat)
    throw Error("the picture is flat (every pixel is " + std::to_string(mean) + "), so there is nothing to denoise");

  const Preset usual = preset(options.quality);
  const Index patch = options.patch.value_or(std::min(usual_patch(noise / noisy.peak()), smaller_side / 2));
  if (patch > smaller_side)
    throw UsageError("patch is " + std::to_string(patch) + ", but the picture is only " + std::to_string(smaller_side) +
                     " pixels on its smaller side");
  std::vector<ModelPlan> plans;
  for (int i = 0; i < options.models.value_or(usual.models); ++i) {
    ModelPlan plan;
    // Models that differ make different errors, which averaging takes out: other patches, other treatment of the mean.
    const Index offsets[] = {0, 2, -2, 4};
    plan.patch = options.patch ? patch : std::clamp<Index>(patch + offsets[i % 4], kSmallestPatch, smaller_side);
    plan.patch_mean = options.patch_mean.value_or(i % 2 == 0 ? PatchMean::remove : PatchMean::keep);
    plan.stride = std::min(options.stride.value_or(1), plan.patch);
    plan.train_patches = options.train_patches;
    // With the mean kept, patches that are wrong about their brightness are certain of it (House, sigma 15: 0.5 dB).
    plan.weights = options.weights.value_or(plan.remove_mean() ? PatchWeights::certainty : PatchWeights::equal);
    const Index available =
        std::min(options.train_patches, (noisy.height() - plan.patch + 1) * (noisy.width() - plan.patch + 1));
    // Few data points cannot teach many basis functions.
    plan.fit.latents = options.latents.value_or(std::clamp<Index>(available / 20, 1, usual.latents));
    plan.fit.inference.candidates = std::min(options.candidates.value_or(usual.candidates), plan.fit.latents);
    plan.fit.inference.max_active =
        std::min(options.max_active.value_or(usual.max_active), plan.fit.inference.candidates);
    plan.fit.inference.selection = options.selection;
    plan.fit.inference.precision = options.precision;
    plan.fit.inference.threads = options.threads;
    plan.fit.iterations = options.iterations.value_or(usual.iterations);
    plan.fit.tolerance = 0;
    plan.fit.seed = options.seed + static_cast<std::uint64_t>(i);
    if (options.init)
      plan.fit.init = *options.init;
    else
      plan.smoothing = std::clamp(noise / noisy.peak() * 10, 0.4, 2.0);
    const double all = static_cast<double>(noisy.height() * noisy.width() / (plan.stride * plan.stride));
    plan.learning_share = 1 / (1 + 1.5 * all / static_cast<double>(available * std::max(1, plan.fit.iterations)));
    plan.fit.validate();
    plans.push_back(plan);
  }
  return plans;
}

Picture smoothed(const Picture& picture, double pixels) {
  const auto reach = static_cast<Index>(std::ceil(3 * pixels));
  Vector kernel(2 * reach + 1);
  for (Index i = -reach; i <= reach; ++i)
    kernel[i + reach] = std::exp(-static_cast<double>(i * i) / (2 * pixels * pixels));
  kernel /= kernel.sum();
  const auto mirrored = [](Index i, Index size) {
    if (i < 0) i = -i;
    if (i >= size) i = 2 * size - 2 - i;
    return std::clamp<Index>(i, 0, size - 1);
  };
  Picture result = picture;
  for (Matrix& channel : result.channels) {
    Matrix rows = Matrix::Zero(channel.rows(), channel.cols()), both = rows;
    for (Index i = -reach; i <= reach; ++i)
      for (Index y = 0; y < channel.rows(); ++y)
        rows.row(y) += kernel[i + reach] * channel.row(mirrored(y + i, channel.rows()));
    for (Index i = -reach; i <= reach; ++i)
      for (Index x = 0; x < channel.cols(); ++x)
        both.col(x) += kernel[i + reach] * rows.col(mirrored(x + i, channel.cols()));
    channel = both;
  }
  return result;
}

}  // namespace gsc
