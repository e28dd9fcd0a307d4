#include "denoising.h"

#include <gsc/metrics.h>

#include "benchmarks.h"
#include "setting_words.h"

namespace gsc::experiments {
namespace {

/// The best of several random starts by free energy.
Denoised denoise_restarts(const Picture& noisy, DenoiseOptions options, int starts) {
  const auto free_energy = [](const Denoised& one) { return one.learned[0].fit.last().free_energy; };
  Denoised best = denoise(noisy, options);
  for (int i = 1; i < starts; ++i) {
    *options.learning.seed += 1000;
    Denoised next = denoise(noisy, options);
    if (free_energy(next) > free_energy(best)) best = std::move(next);
  }
  return best;
}

}  // namespace

Json paper_denoising(int latents, int candidates, int max_active, int iterations) {
  return {{"method", "truncated"},
          {"latents", latents},
          {"candidates", candidates},
          {"max_active", max_active},
          {"iterations", iterations}};
}

Json factored_denoising(int latents, int iterations) {
  return {{"method", "factored"}, {"latents", latents}, {"iterations", iterations}};
}

Json other_denoising(const std::string& method, std::optional<double> told, bool quick) {
  Json settings{{"method", method}};
  if (told) settings["told"] = *told;
  if (quick) settings.update({{"latents", 32}, {"iterations", 4}});
  return settings;
}

DenoiseOptions denoise_options(const Json& settings) {
  DenoiseOptions options;
  // Not the seed of the noise: the same draws would be in both.
  options.learning.seed = settings.at("seed").get<std::uint64_t>() + 1000;
  if (settings.contains("quality")) {
    options.quality = word<Quality>(settings, "quality");
    return options;
  }
  options.learning.inference.method = word<Method>(settings, "method");
  if (!spike_and_slab(options.learning.method())) {
    if (settings.contains("told")) options.learning.sigma = settings.at("told").get<double>();
    if (settings.contains("latents")) options.learning.latents = settings.at("latents").get<Index>();
    if (settings.contains("iterations")) options.learning.iterations = settings.at("iterations").get<int>();
    return options;
  }
  // As published: full EM that learns the noise, and nothing but the model's posterior mean.
  options.noise = NoiseSource::learned;
  options.learning.batch = 0;
  options.nonlocal = options.groups = 0;
  options.patch = 8;
  options.models = 1;
  options.learning.latents = settings.at("latents").get<Index>();
  options.learning.iterations = settings.at("iterations").get<int>();
  options.learning.inference.precision = Precision::double_precision;
  if (options.learning.method() == Method::factored) {
    // From random numbers, and with means to learn, it stays far from sparse codes.
    options.patch_mean = PatchMean::remove;
    return options;
  }
  options.learning.inference.candidates = settings.at("candidates").get<Index>();
  options.learning.inference.max_active = settings.at("max_active").get<Index>();
  options.learning.inference.selection = Selection::singleton;
  options.learning.init = Init::random;
  options.patch_mean = PatchMean::keep;
  options.weights = PatchWeights::equal;
  return options;
}

Picture noisy_picture(const Picture& clean, const Json& settings) {
  return add_noise(clean, settings.at("sigma"), settings.at("clipped"), settings.at("seed"));
}

DenoisingTrial run_denoising(const Json& settings, const Request& request) {
  DenoisingTrial trial;
  trial.clean = benchmark_picture(request);
  trial.noisy = noisy_picture(trial.clean, settings);
  DenoiseOptions options = denoise_options(settings);
  options.learning.inference.threads = request.threads;
  trial.denoised = denoise_restarts(trial.noisy, options, settings.value("starts", 1));
  return trial;
}

Json figures_of(const DenoisingTrial& trial) {
  const double peak = trial.clean.peak();
  double seconds = 0;
  for (const Denoised::Learned& learned : trial.denoised.learned)
    seconds += learned.fit.seconds + learned.seconds_inferring;
  return {{"psnr_noisy", psnr(trial.clean, trial.noisy, peak)},
          {"psnr", psnr(trial.clean, trial.denoised.picture, peak)},
          {"ssim", ssim(trial.clean, trial.denoised.picture, peak)},
          {"noise_std", trial.denoised.learned[0].fit.last().noise_std},
          {"seconds", seconds}};
}

void add_quick_note(const Request& request, Report& report) {
  if (request.quick)
    report.add_text(
        "Quick version: a small drawing stands in for House, so that no published value applies, and there are fewer "
        "latents, starts and iterations than the names of the methods say.");
}

}  // namespace gsc::experiments
