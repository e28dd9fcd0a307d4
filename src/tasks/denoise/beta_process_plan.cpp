#include "tasks/denoise/beta_process_plan.h"

#include <algorithm>

#include "inference/cost_model.h"
#include "math/number_text.h"

namespace gsc {
namespace {

int usual_iterations(Quality quality) {
  switch (quality) {
    case Quality::fast:
      return 40;
    case Quality::standard:
      return 80;
    case Quality::best:
      return 200;
  }
  return 0;
}

void refuse_options(const DenoiseOptions& options) {
  const std::string method(to_string(options.method));
  if (options.candidates || options.max_active)
    throw UsageError(std::string(options.candidates ? "candidates" : "max_active") + " is given, but the " + method +
                     " method has no limit on active latents; leave it out");
  if (options.sigma)
    throw UsageError("sigma is " + number_text(*options.sigma) + ", but the " + method +
                     " method learns the noise level; leave it out");
  if (options.noise == NoiseSource::measured)
    throw UsageError("the noise is to be measured, but the " + method + " method learns it; leave that out");
  if (options.nonlocal.value_or(0) > 0)
    throw UsageError("nonlocal is " + std::to_string(*options.nonlocal) +
                     ", but priors of their own for patches need the truncated method");
}

}  // namespace

void plan_beta_process(const Picture& noisy, const DenoiseOptions& options, Index available, ModelPlan& plan) {
  constexpr Index kLarge = 300 * 300;
  refuse_options(options);
  const Index pixels = noisy.height() * noisy.width(), channels = static_cast<Index>(noisy.channels.size());
  plan.weights = options.weights.value_or(PatchWeights::equal);
  plan.fit.latents = options.latents.value_or(std::clamp<Index>(available / 20, 1, pixels > kLarge ? 512 : 256));
  plan.fit.iterations = options.iterations.value_or(usual_iterations(options.quality));
  plan.fit.tolerance = 0;
  plan.fit.inference.method = options.method;
  plan.fit.inference.threads = options.threads;
  plan.fit.inference.device = options.device;
  plan.fit.beta_process.usage_prior = options.usage_prior;
  if (options.method == Method::beta_process) {
    plan.fit.beta_process.burn_in = options.burn_in.value_or(plan.fit.iterations / 2);
    plan.fit.beta_process.chains = options.chains.value_or(plan.fit.beta_process.chains);
    plan.fit.inference.draws = options.draws.value_or(plan.fit.inference.draws);
  }
  plan.fit.intercept = Intercept::none;
  plan.fit.batch = options.batch.value_or(0);
  plan.fit.sharing = options.sharing;
  plan.fit.factored.shape = {plan.patch, plan.patch, channels};
  if (options.init)
    plan.fit.init = *options.init;
  else
    plan.smoothing = std::clamp(10 * plan.noise_share, 0.4, 2.0);
  plan.fit.validate();
  const double D = static_cast<double>(plan.patch * plan.patch * channels), H = static_cast<double>(plan.fit.latents);
  const double sweep = kCosts.sweep_point + (2 * kCosts.product * D + kCosts.sweep_latent) * H;
  const double scale = 1e-9 / thread_count(options.threads);
  plan.learning_seconds =
      scale * plan.fit.beta_process.chains * plan.fit.iterations * static_cast<double>(available) * sweep;
  plan.inferring_seconds = scale * 2 * static_cast<double>(plan.fit.inference.draws) * static_cast<double>(pixels) *
                           kCosts.sweep_latent * H / static_cast<double>(plan.stride * plan.stride);
}

}  // namespace gsc
