#pragma once
// One trial of denoising: noise is added to a picture and taken away again.

#include <gsc/denoise.h>

#include "experiment.h"

namespace gsc::experiments {

/// The paper's way: every patch with its mean, each latent scored alone, random start, all patches weigh alike.
Json paper_denoising(int latents, int candidates, int max_active, int iterations);
Json factored_denoising(int latents, int iterations);

/// As published by the authors of methods that are not spike-and-slab: what the program does by itself with them.
/// `told`: the noise level; none: they learn it.
Json other_denoising(const std::string& method, std::optional<double> told, bool quick);

/// From settings of one of these; or "quality" alone.
DenoiseOptions denoise_options(const Json& settings);

struct DenoisingTrial {
  Picture clean, noisy;
  Denoised denoised;
};

/// Settings besides those of the options: sigma, clipped, seed (of the noise).
Picture noisy_picture(const Picture& clean, const Json& settings);

/// Settings besides those: starts, the best of so many random ones by free energy.
DenoisingTrial run_denoising(const Json& settings, const Request& request);
Json figures_of(const DenoisingTrial& trial);

void add_quick_note(const Request& request, Report& report);

}  // namespace gsc::experiments
