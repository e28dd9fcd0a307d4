// Noise added to pictures; the options of denoising.

#include <gsc/denoise.h>

#include <algorithm>
#include <cmath>

#include "math/number_text.h"

namespace gsc {

Picture add_noise(const Picture& clean, double sigma, bool clip, std::uint64_t seed) {
  if (!(sigma >= 0) || !std::isfinite(sigma))
    throw UsageError("the noise to add is " + number_text(sigma) + "; it must be zero or positive");
  Random random(seed);
  std::normal_distribution<double> normal(0, 1);
  Picture noisy = clean;
  for (Matrix& channel : noisy.channels) {
    for (double& pixel : channel.reshaped<Eigen::RowMajor>()) {
      pixel += sigma * normal(random);
      if (clip && clean.depth != PixelDepth::real32) pixel = std::clamp(std::round(pixel), 0.0, clean.peak());
    }
  }
  return noisy;
}

void DenoiseOptions::validate() const {
  const auto require = [](bool good, const char* name, auto value, const char* rule) {
    if (!good) throw UsageError(std::string(name) + " is " + std::to_string(value) + "; it must be " + rule);
  };
  if (patch) require(*patch >= 2 && *patch <= 64, "patch", *patch, "between 2 and 64");
  if (stride) require(*stride >= 1, "stride", *stride, "at least 1");
  if (latents) require(*latents >= 1 && *latents <= kMaxLatents, "latents", *latents, "between 1 and 65535");
  if (iterations) require(*iterations >= 0, "iterations", *iterations, "zero or more");
  if (nonlocal) require(*nonlocal >= 0 && *nonlocal <= 10, "nonlocal", *nonlocal, "between 0 and 10");
  if (groups) require(*groups >= 0 && *groups <= 20, "groups", *groups, "between 0 and 20");
  if (models) require(*models >= 1 && *models <= 16, "models", *models, "between 1 and 16");
  if (train_patches) require(*train_patches >= 2, "train-patches", *train_patches, "at least 2");
  if (patch && stride)
    require(*stride <= *patch, "stride", *stride, "at most the patch size, so that every pixel lies in a patch");
}

std::string_view to_string(Quality quality) {
  switch (quality) {
    case Quality::fast:
      return "fast";
    case Quality::standard:
      return "standard";
    case Quality::best:
      return "best";
  }
  return "";
}

std::string_view to_string(NoiseSource source) { return source == NoiseSource::measured ? "measured" : "learned"; }

std::string_view to_string(PatchMean mean) { return mean == PatchMean::remove ? "remove" : "keep"; }

std::string_view to_string(PatchWeights weights) { return weights == PatchWeights::equal ? "equal" : "certainty"; }

}  // namespace gsc
