#pragma once
// What denoise() will do, chosen from the options, the picture's size and its estimated noise.

#include <gsc/denoise.h>

#include <vector>

namespace gsc {

/// One model to learn, and how to use it.
struct ModelPlan {
  Index patch = 8, stride = 1, train_patches = 0;
  PatchMean patch_mean = PatchMean::remove;
  PatchWeights weights = PatchWeights::certainty;
  double smoothing = 0;          ///< pixels; the start comes from a picture smoothed so far; 0: as fit.init says
  double weight_floor = 4;       ///< in units of the noise of a patch's mean: how far certainty may favour a patch
  double learning_share = 0.95;  ///< guess of learning's part of the time
  double cost = 1;               ///< guess of the time, to compare with other models'
  FitOptions fit;

  bool remove_mean() const { return patch_mean == PatchMean::remove; }
};

/// Throws Error for a picture that is too small for any patch, or flat, UsageError for options that do not fit it.
std::vector<ModelPlan> plan_denoising(const Picture& noisy, const DenoiseOptions& options, double noise);

/// What denoise() does once it is planned; `noise` is what the plans were made for.
Denoised denoise_as_planned(const Picture& noisy, const std::vector<ModelPlan>& plans, double noise,
                            const DenoiseObserver& observer = {});

/// Gaussian smoothing of every channel, mirrored at the edges.
Picture smoothed(const Picture& picture, double pixels);

}  // namespace gsc
