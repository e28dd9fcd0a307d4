#pragma once
// Filling what is missing of a picture from what is there: sampled pixels, scratches, dead sensors. Missing values are
// NaN. Target gsc::tasks.

#include <gsc/denoise.h>
#include <gsc/export.h>
#include <gsc/picture.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gsc {

/// A model of patches of patch x patch pixels, over all channels (in the order row, column, channel), that was learned
/// elsewhere: by fit() on patches, or by denoise() of another picture in the same units.
struct PatchModel {
  Model model;
  InferenceOptions inference;
};

struct GSC_EXPORT InpaintOptions {
  Quality quality = Quality::standard;  ///< sets what is left out below
  std::optional<Index> patch;           ///< of groups, in pixels a side; the sizes around it follow
  std::optional<int> groups;            ///< rounds of groups of patches that look alike
  /// Standard deviation of the noise of what is observed, in the units of the pixels. Left out: none, or with
  /// keep_observed false what is measured. Where neighbours are missing no measurement tells fine texture from noise,
  /// so nothing is taken out that nobody spoke of.
  std::optional<double> noise;
  std::optional<bool> keep_observed;  ///< values come out as they are, to the bit; left out: unless there is noise
  /// The first guess is made by this model; left out: by smoothing what is observed.
  std::shared_ptr<const PatchModel> learned;
  bool hold_out = true;  ///< measure errors on observed values that are set aside for a while
  std::uint64_t seed = 1;
  int threads = 0;

  void validate() const;  ///< throws UsageError
};

/// What observed values say that were set aside while the picture was filled, and predicted from the others. They came
/// back for the last rounds, so the result itself is mostly better; but those set aside may be easier than those
/// missing by chance (docs/results/README.md#inpainting: from 0.8 dB worse to 3.8 dB better).
struct HeldOut {
  Index values = 0;       ///< how many; 0: none were
  double rmse = 0;        ///< of the prediction, without the noise of the values themselves
  double psnr = 0;        ///< the same of the whole picture, in which observed values have no error if they are kept
  bool at_least = false;  ///< noise of what is observed hides the error: that is rmse at most, and psnr at least
  /// Share of them within two deviations, with their own noise, where each half is judged by the scale of the other:
  /// by that of all, below, it would be 95 % whatever they are.
  double coverage = 0;
  double scale = 1;     ///< by which the deviations of groups were multiplied so that two hold 95 % of all these errors
  bool shaped = false;  ///< whether whole holes were set aside, in the shape of those there are, and not single values
  /// Where deep holes lie in a picture with other gaps all over it, each kind is judged by itself, and weighs above as
  /// much as is missing of it: so many of the values are in holes as deep, and that is the factor of deviations there.
  Index deep_values = 0;
  double deep_scale = 1;
};

struct Inpainted {
  Picture picture;  ///< nothing is missing
  /// Standard deviation of each value's error, depth real32; 0 where it is kept. No channels without rounds of groups:
  /// a first guess does not know how far off it is.
  Picture std;
  Index missing = 0, values = 0;
  Index deepest = 0;  ///< pixels from the innermost missing pixel to the nearest observed one
  int shells = 0;     ///< where that is deeper than a patch reaches: steps in which holes were filled from outside in
  NoiseLevel noise;   ///< of observed values: as told, or measured, where texture counts as noise
  bool kept = false;  ///< whether observed values are as they were
  HeldOut held_out;
  int group_rounds = 0;
  double seconds_grouping = 0;  ///< of the rounds of groups, without first guess and deep holes
};

/// `damaged` has NaN for every missing value. Nothing missing: noise is taken out, if there is any. Throws Error for a
/// picture that is too small, or has a channel of which all is missing; infinite values are refused.
GSC_EXPORT Inpainted inpaint(const Picture& damaged, const InpaintOptions& options, Watcher* watcher = nullptr);

struct InpaintPlan;
/// What inpaint() is going to do, and how long that takes, for who wants to know before.
struct PlannedInpainting {
  Index missing = 0, values = 0;            ///< of the picture
  bool keep = true;                         ///< observed values come out as they are
  NoiseLevel noise;                         ///< of observed values: told, or measured, which texture makes too much
  bool noisy = false;                       ///< that much noise would be seen, if it is noise
  std::string text;                         ///< what will be done, in a line
  double seconds = 0;                       ///< a guess, on the threads of the options
  std::shared_ptr<const InpaintPlan> plan;  ///< for inpaint_as_planned()
};
/// Throws what inpaint() would of the picture and the options.
GSC_EXPORT PlannedInpainting plan_inpainting(const Picture& damaged, const InpaintOptions& options);
/// Goes on from there, of the same picture.
GSC_EXPORT Inpainted inpaint_as_planned(const Picture& damaged, const PlannedInpainting& planned,
                                        Watcher* watcher = nullptr);

/// A first guess at the missing values, good for any hole: each is the mean of what is observed nearby, weighted by a
/// Gaussian as narrow as there is enough in. Throws Error if all values of the picture are missing.
GSC_EXPORT Picture first_guess(const Picture& damaged);
/// How many of the values are missing (NaN).
GSC_EXPORT Index missing_values(const Picture& picture);
/// The side of the patches that the model is of. Throws UsageError unless it fits the picture and says how certain its
/// guesses are.
GSC_EXPORT Index patch_of_model(const PatchModel& of, const Picture& picture);

/// NaN where the mask, of the same size and with one channel or as many, is not zero. Throws Error if sizes differ.
GSC_EXPORT Picture with_gaps(const Picture& picture, const Picture& mask);
/// NaN where a value is equal to `missing`, of a fraction also to the float next to it, as pictures in single precision
/// have it; NaN itself stays.
GSC_EXPORT Picture with_gaps(const Picture& picture, double missing);
/// A picture whose values were each kept with probability `observed`; `whole_pixels`: all channels of a pixel or none.
GSC_EXPORT Picture drop_values(const Picture& picture, double observed, bool whole_pixels, std::uint64_t seed);

}  // namespace gsc
