#include "tasks/denoise/preset.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "learning/fit_option_list.h"

namespace gsc {
namespace {

constexpr Index kBatch = 4096, kOnlineBatch = 512, kAtoms = 256;

/// Few data points cannot teach many basis functions.
Index usual_latents(Index available, Index most) { return std::clamp<Index>(available / 20, 1, most); }

void set_spike_and_slab(const LearningChoices& chosen, const Preset& preset, Index available, FitOptions& fit) {
  fit.latents = chosen.latents.value_or(usual_latents(available, preset.latents));
  fit.inference.candidates = chosen.inference.candidates.value_or(std::min(preset.candidates, fit.latents));
  fit.inference.max_active = std::min(preset.max_active, fit.inference.candidates);
  fit.batch = chosen.batch.value_or(traits(fit.inference.method).has_states ? kBatch : 0);
  fit.iterations = fit.batch > 0 ? preset.passes : preset.full_iterations;
}

void set_dictionary(const LearningChoices& chosen, Index available, FitOptions& fit) {
  fit.latents = usual_latents(available, kAtoms);
  fit.iterations = traits(fit.inference.method).picture_iterations;
  if (traits(fit.inference.method).coding) return;
  fit.batch = kOnlineBatch;
  if (chosen.inference.coding.lambda.value_or(0) == 0) fit.inference.coding.coding = Coding::bounded;
}

void set_beta_process(const LearningChoices& chosen, Quality quality, Index available, Index pixels, FitOptions& fit) {
  constexpr Index kLarge = 90000;  // 300 x 300
  fit.latents = usual_latents(available, pixels > kLarge ? 512 : 256);
  fit.iterations = quality == Quality::fast ? 40 : quality == Quality::standard ? 80 : 200;
  if (traits(fit.inference.method).draws) fit.beta_process.burn_in = chosen.iterations.value_or(fit.iterations) / 2;
}

/// Of all pictures.
FitOptions common_preset(const DenoiseOptions& options) {
  FitOptions fit;
  fit.inference.method = options.learning.method();
  fit.intercept = Intercept::none;
  fit.tolerance = 0;
  fit.sharing.team = options.team;
  if (!spike_and_slab(fit.inference.method)) return fit;
  fit.inference.precision = Precision::single_precision;
  fit.polish = 0;
  return fit;
}

/// The noise level that is told is in the units of the pixels, and held to in a way of its own.
LearningChoices without_sigma(LearningChoices choices) {
  choices.sigma.reset();
  return choices;
}

}  // namespace

Preset preset_of(Quality quality) {
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

FitOptions learning_options(const DenoiseOptions& options, Index available, Index pixels) {
  const LearningChoices& chosen = options.learning;
  FitOptions fit = common_preset(options);
  const Method method = fit.inference.method;
  if (spike_and_slab(method))
    set_spike_and_slab(chosen, preset_of(options.quality), available, fit);
  else if (point_estimate(method))
    set_dictionary(chosen, available, fit);
  else
    set_beta_process(chosen, options.quality, available, pixels, fit);
  return put_on(without_sigma(chosen), fit);
}

FitOptions DenoiseOptions::usual() const { return put_on(without_sigma(learning), common_preset(*this)); }

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
