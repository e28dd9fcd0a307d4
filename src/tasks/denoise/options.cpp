// What DenoiseOptions may say.

#include <gsc/denoise.h>

#include <algorithm>
#include <cmath>

#include "math/number_text.h"

namespace gsc {

namespace {

/// What methods that learn a dictionary do not have.
void check_dictionary(const DenoiseOptions& options) {
  const auto refuse = [&](const std::string& what, const std::string& why) {
    throw UsageError(what + ", but method is " + std::string(to_string(options.method)) + ", " + why);
  };
  if (options.candidates)
    refuse("candidates is " + std::to_string(*options.candidates), "which has none; leave it out");
  if (options.batch.value_or(0) > 0 && options.method != Method::online)
    refuse("batch is " + std::to_string(*options.batch), "which learns from all patches at a time; leave it out");
  if (options.noise == NoiseSource::learned)
    refuse("the noise level is learned", "which must be told it; leave it out");
  if (options.weights == PatchWeights::certainty)
    refuse("weights is certainty", "which knows nothing of that; let them be equal");
}

}  // namespace

NoiseLevel noise_level(const Picture& picture, const DenoiseOptions& options) {
  if (!options.sigma) return measure_noise(picture, options.threads);
  NoiseLevel level;
  level.std = *options.sigma;
  level.told = true;
  return level;
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
  if (sigma && !(*sigma > 0 && std::isfinite(*sigma)))
    throw UsageError("sigma is " + number_text(*sigma) +
                     "; a noise level is positive. Leave it out where it is not known");
  if (sigma && noise == NoiseSource::learned)
    throw UsageError("sigma is " + number_text(*sigma) + ", but the noise level is learned; choose one of the two");
  if (point_estimate(method)) check_dictionary(*this);
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
