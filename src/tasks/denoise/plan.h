#pragma once
// What denoise() will do, chosen from the options, the picture's size and its estimated noise.

#include <gsc/denoise.h>

#include <memory>
#include <string>
#include <vector>

#include "tasks/groups/patch_groups.h"

namespace gsc {

/// One model to learn, and how to use it.
struct ModelPlan {
  Index patch = 8, stride = 1, train_patches = 0;
  PatchMean patch_mean = PatchMean::remove;
  PatchWeights weights = PatchWeights::certainty;
  double noise_share = 0;      ///< of the range of the picture: the noise as told or measured
  double smoothing = 0;        ///< pixels; the start comes from a picture smoothed so far; 0: as fit.init says
  bool cosines = false;        ///< the start is an overcomplete set of cosines (preset.h)
  bool usual_lambda = false;   ///< nobody gave it, so where no code would be left it may be less
  CodingOptions coding;        ///< of the patches in the end, where these are codes
  double noisy_weight = 0;     ///< of the noisy picture in the average, where a patch has weight 1; of codes only
  double weight_floor = 4;     ///< in units of the noise of a patch's mean: how far certainty may favour a patch
  double inference_noise = 0;  ///< standard deviation that inference takes; 0: that of the model
  int nonlocal_rounds = 0;     ///< with priors of their own for patches, from so many like them, so far away
  Index neighbours = 30, reach = 12;
  double learning_seconds = 1, inferring_seconds = 1;  ///< guesses
  FitOptions fit;

  bool remove_mean() const { return patch_mean == PatchMean::remove; }
};

/// All of it.
struct DenoisePlan {
  NoiseLevel noise;
  double range = 255;  ///< of the picture, from black to white (pixel_units.h)
  std::vector<ModelPlan> models;
  int group_rounds = 0;
  GroupOptions groups;
  double group_noise = 0;    ///< standard deviation that groups take
  double group_seconds = 0;  ///< guess
  /// The same for the picture of half the size, of whose result the low frequencies take this share; or null.
  std::shared_ptr<const DenoisePlan> coarse;
  double coarse_share = 0;

  double seconds() const;
};

/// The noise that learning and groups hold to. A picture drawn by a program may have none at all, and nothing can be
/// learned without any: at least a thousandth of the range, or next to nothing where somebody tells it.
double noise_held(const NoiseLevel& noise, double range);

/// Throws Error for a picture that is too small for any patch, or flat, UsageError for options that do not fit it.
DenoisePlan plan_denoising(const Picture& noisy, const DenoiseOptions& options, const NoiseLevel& noise);

/// The plan in a line: what will be done.
std::string plan_text(const DenoisePlan& plan);

/// What denoise() does once it is planned.
Denoised denoise_as_planned(const Picture& noisy, const DenoisePlan& plan, Watcher* watcher = nullptr);

}  // namespace gsc
