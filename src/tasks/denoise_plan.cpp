#include "tasks/denoise_plan.h"

#include <algorithm>
#include <cmath>

#include "math/number_text.h"

namespace gsc {
namespace {

/// One of the models of a quality. Models that differ make different errors, which averaging takes out.
struct Member {
  PatchMean mean;
  Index larger;   ///< pixels added to the usual patch
  Index latents;  ///< most, and fewer where noise is strong
};

/// What a quality stands for.
struct Preset {
  Index candidates, max_active;
  int iterations, models;
  std::vector<Member> members;  ///< the first `models` of them; more if the user wants more, and round again
};

// On House at sigma 15, 25, 50 larger patches are better where the mean is removed than where it is kept, and 1024
// latents are better than 512 only where it is kept (docs/denoise.md).
Preset preset(Quality quality) {
  switch (quality) {
    case Quality::fast:
      return {8, 4, 20, 1, {{PatchMean::remove, 0, 256}, {PatchMean::keep, 2, 256}, {PatchMean::remove, 2, 256}}};
    case Quality::standard:
      return {10, 5, 60, 2, {{PatchMean::keep, 0, 512}, {PatchMean::remove, 2, 512}, {PatchMean::keep, 2, 512}}};
    case Quality::best:
      return {10, 5, 100, 3, {{PatchMean::keep, 0, 1024}, {PatchMean::remove, 2, 512}, {PatchMean::keep, 2, 1024}}};
  }
  return {};
}

constexpr Index kSmallestPatch = 2;
/// Of the range of the picture, as a standard deviation.
constexpr double kMediumNoise = 0.08, kStrongNoise = 0.13;

/// Where noise is strong a patch must be large to hold enough signal, and there are fewer patterns to be told from it.
Index usual_patch(double noise_share) { return noise_share > kStrongNoise ? 12 : noise_share > kMediumNoise ? 10 : 8; }
Index usual_latents(Index most, double noise_share) {
  return noise_share > kStrongNoise ? std::min<Index>(most, 512) : most;
}

std::string size_text(const Picture& picture) {
  return std::to_string(picture.width()) + " x " + std::to_string(picture.height());
}

/// Throws unless there is something to learn from.
void check(const Picture& noisy) {
  if (std::min(noisy.height(), noisy.width()) < 2 * kSmallestPatch)
    throw Error("the picture has " + size_text(noisy) + " pixels; denoising needs at least " +
                std::to_string(2 * kSmallestPatch) + " in each direction");
  const bool flat = std::all_of(noisy.channels.begin(), noisy.channels.end(),
                                [](const Matrix& channel) { return channel.maxCoeff() == channel.minCoeff(); });
  if (flat)
    throw Error("the picture is flat (every pixel is " + number_text(noisy.channels[0](0, 0)) +
                "), so there is nothing to denoise; is it the right one?");
}

void set_truncation(const DenoiseOptions& options, const Preset& usual, FitOptions& fit) {
  fit.inference.candidates = options.candidates.value_or(std::min(usual.candidates, fit.latents));
  fit.inference.max_active = options.max_active.value_or(std::min(usual.max_active, fit.inference.candidates));
}

ModelPlan plan_model(const Picture& noisy, const DenoiseOptions& options, const Preset& usual, const Member& member,
                     double noise) {
  const Index smaller_side = std::min(noisy.height(), noisy.width());
  const double noise_share = noise / noisy.peak();
  ModelPlan plan;
  plan.patch =
      options.patch.value_or(std::clamp(usual_patch(noise_share) + member.larger, kSmallestPatch, smaller_side / 2));
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
  plan.train_patches = options.train_patches;
  // With the mean kept, patches that are wrong about their brightness are certain of it (House, sigma 15: 0.5 dB).
  plan.weights = options.weights.value_or(plan.remove_mean() ? PatchWeights::certainty : PatchWeights::equal);
  const Index available = std::min(options.train_patches, positions);
  // Few data points cannot teach many basis functions.
  plan.fit.latents =
      options.latents.value_or(std::clamp<Index>(available / 20, 1, usual_latents(member.latents, noise_share)));
  set_truncation(options, usual, plan.fit);
  plan.fit.inference.method = options.method;
  plan.fit.factored = options.factored;
  plan.fit.factored.shape = {plan.patch, plan.patch, static_cast<Index>(noisy.channels.size())};
  plan.fit.inference.selection = options.selection;
  plan.fit.inference.precision = options.precision;
  plan.fit.inference.threads = options.threads;
  plan.fit.inference.device = options.device;
  plan.fit.intercept = Intercept::none;
  plan.fit.batch = options.batch;
  plan.fit.polish = options.polish;
  plan.fit.sharing = options.sharing;
  plan.fit.iterations = options.iterations.value_or(usual.iterations);
  plan.fit.tolerance = 0;
  if (options.init)
    plan.fit.init = *options.init;
  else
    plan.smoothing = std::clamp(noise_share * 10, 0.4, 2.0);
  plan.fit.validate();

  // Rough, for progress only: an iteration's cost per patch grows with latents and pixels.
  const auto all = static_cast<double>(noisy.height() * noisy.width() / (plan.stride * plan.stride));
  const double learning = static_cast<double>(available) * std::max(1, plan.fit.iterations), inferring = 1.5 * all;
  plan.learning_share = learning / (learning + inferring);
  plan.cost = (learning + inferring) * static_cast<double>(plan.fit.latents + plan.patch * plan.patch);
  return plan;
}

}  // namespace

std::vector<ModelPlan> plan_denoising(const Picture& noisy, const DenoiseOptions& options, double noise) {
  check(noisy);
  const Preset usual = preset(options.quality);
  std::vector<ModelPlan> plans;
  for (std::size_t i = 0; i < static_cast<std::size_t>(options.models.value_or(usual.models)); ++i) {
    plans.push_back(plan_model(noisy, options, usual, usual.members[i % usual.members.size()], noise));
    plans.back().fit.seed = options.seed + i;
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
