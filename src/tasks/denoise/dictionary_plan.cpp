#include "tasks/denoise/dictionary_plan.h"

#include <gsc/inference.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "inference/cost_model.h"

namespace gsc {
namespace {

constexpr Index kDictionaryAtoms = 256;
/// Feature-sign search: of the noise, the best of 2, 2.5 and 3 on House at sigma 15, 25 and 50.
constexpr double kLambdaPerNoise = 2.5;
constexpr Index kOnlineBatch = 512;

/// The noisy picture weighs peak / (this noise) patches: their 30 / sigma for pixels of 0 to 255.
constexpr double kPatchesPerNoise = 0.034 * 255;

}  // namespace

void plan_dictionary(const Picture& noisy, const DenoiseOptions& options, const NoiseLevel& noise, double range,
                     Index available, ModelPlan& plan) {
  const auto channels = static_cast<Index>(noisy.channels.size());
  plan.weights = PatchWeights::equal;
  plan.fit.latents = options.latents.value_or(std::clamp<Index>(available / 20, 1, kDictionaryAtoms));
  plan.fit.iterations = options.iterations.value_or(traits(options.method).picture_iterations);
  plan.fit.tolerance = 0;
  plan.fit.inference.method = options.method;
  plan.fit.inference.max_active = options.max_active.value_or(0);
  plan.fit.inference.threads = options.threads;
  plan.fit.inference.device = options.device;
  plan.fit.inference.coding = options.coding;
  plan.fit.dictionary = options.dictionary;
  plan.fit.intercept = Intercept::none;
  plan.fit.sharing = options.sharing;
  plan.fit.factored.shape = {plan.patch, plan.patch, channels};
  if (options.init) plan.fit.init = *options.init;
  plan.cosines = !options.init && channels == 1;
  plan.fit.known_noise = noise_held(noise, range);
  plan.noisy_weight = range / (kPatchesPerNoise * plan.fit.known_noise);
  CodingOptions& coding = plan.fit.inference.coding;
  if (options.method == Method::online) {
    plan.fit.batch = options.batch.value_or(0) > 0 ? *options.batch : kOnlineBatch;
    if (coding.coding == Coding::lasso && coding.lambda == 0 && !options.coding_chosen) coding.coding = Coding::bounded;
  }
  plan.usual_lambda = codes_by_lambda(plan.fit.inference) && coding.lambda == 0;
  if (plan.usual_lambda) coding.lambda = kLambdaPerNoise * plan.fit.known_noise;
  plan.coding = coding;
  if (options.method == Method::online) {  // in the end by orthogonal matching pursuit, and what that is told
    plan.coding.coding = Coding::omp;
    if (coding.coding == Coding::lasso) coding = {.coding = Coding::lasso, .lambda = coding.lambda};
  }
  if (options.nonlocal.value_or(0) > 0)
    throw UsageError("nonlocal is " + std::to_string(*options.nonlocal) +
                     ", but priors of their own for patches need the truncated method");
  plan.fit.validate();
  const double D = static_cast<double>(plan.patch * plan.patch * channels), H = static_cast<double>(plan.fit.latents);
  const double code = 1e-9 * (kCosts.code + kCosts.code_product * D * H) / thread_count(options.threads);
  plan.learning_seconds = plan.fit.iterations * static_cast<double>(available) * code;
  plan.inferring_seconds =
      static_cast<double>(noisy.height() * noisy.width()) / static_cast<double>(plan.stride * plan.stride) * code;
}

Matrix cosine_atoms(Index patch, Index count, bool constant) {
  const Index skipped = constant ? 0 : 1;
  const Index K = std::max(patch, static_cast<Index>(std::ceil(std::sqrt(static_cast<double>(count + skipped)))));
  Matrix cosines(patch, K);
  for (Index k = 0; k < K; ++k) {
    for (Index i = 0; i < patch; ++i)
      cosines(i, k) = std::cos(static_cast<double>(i * k) * M_PI / static_cast<double>(K));
    if (k > 0) cosines.col(k).array() -= cosines.col(k).mean();
    cosines.col(k) /= cosines.col(k).norm();
  }
  std::vector<std::pair<Index, Index>> pairs;
  for (Index k = 0; k < K; ++k)
    for (Index l = 0; l < K; ++l) pairs.emplace_back(k, l);
  std::stable_sort(pairs.begin(), pairs.end(), [](auto a, auto b) { return a.first + a.second < b.first + b.second; });
  Matrix atoms(patch * patch, count);
  for (Index h = 0; h < count; ++h) {
    const auto [k, l] = pairs[static_cast<std::size_t>(h + skipped)];
    for (Index row = 0; row < patch; ++row) atoms.col(h).segment(row * patch, patch) = cosines(row, k) * cosines.col(l);
  }
  return atoms;
}

}  // namespace gsc
