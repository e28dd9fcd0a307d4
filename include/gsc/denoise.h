#pragma once
// Denoising a picture by learning from its own patches; the noise level is measured. Target gsc::tasks.

#include <gsc/export.h>
#include <gsc/noise.h>
#include <gsc/option_list.h>
#include <gsc/picture.h>
#include <gsc/words.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace gsc {

enum class Quality { fast, standard, best };
enum class PatchMean { remove, keep };
enum class PatchWeights { equal, certainty };
enum class NoiseSource { measured, learned };

struct GSC_EXPORT DenoiseOptions {
  Quality quality = Quality::standard;  ///< sets what is left out below
  std::optional<Index> patch;           ///< patches of patch x patch pixels, over all channels
  std::optional<Index> stride;          ///< of the patches that are averaged in the end
  /// remove: each patch's mean is taken out before learning and put back after. keep: the paper's way.
  std::optional<PatchMean> patch_mean;
  std::optional<int> models;  ///< so many models, of different patches, are learned and their pictures averaged
  /// Of overlapping patches; left out: certainty where the mean is removed, else equal.
  std::optional<PatchWeights> weights;
  /// measured: measure_noise() says how strong the noise is, and learning holds to it. learned: with the rest of the
  /// model, which takes what it cannot explain for noise; left out: measured, but for the factored method.
  std::optional<NoiseSource> noise;
  /// Rounds of inference in which every patch has a prior of its own, from patches like it (gsc/nonlocal.h).
  std::optional<int> nonlocal;
  /// Rounds of a second opinion: patches that look alike in the result so far as draws of one Gaussian.
  std::optional<int> groups;
  std::optional<Index> train_patches;  ///< learn on so many random patches where there are more
  /// Of learning; the rest follows from the quality, the picture and its noise. sigma is in the units of the pixels; left
  /// out, it is measured. init left out: from patches of the smoothed picture, which is good at all noise levels. online
  /// learns by bounded codes, or with a lambda by the lasso.
  LearningChoices learning;
  Team* team = &solo();  ///< all ranks have the picture and get the result

  void validate() const;  ///< throws UsageError
  /// Of learning, what is known before a picture is: what is chosen, on top of what all pictures have.
  FitOptions usual() const;
};

/// The options of denoising, its own and those of learning that it reads, and one of them set from a text
/// (gsc/option_list.h).
GSC_EXPORT std::vector<OptionDescription> denoise_option_list();
GSC_EXPORT void set_option(DenoiseOptions& options, std::string_view name, const std::string& text);

struct Denoised {
  struct Learned {
    Index patch = 0;
    PatchMean patch_mean = PatchMean::remove;
    FitOptions options;
    FitResult fit;
    double seconds_inferring = 0;
    std::int64_t clamped_pivots = 0;  ///< patches whose posterior met a numerically singular state; not counted in
                                      ///< mosaics of a GPU
  };
  Picture picture;
  Picture std;                   ///< of each pixel's error, depth real32; no channels of a point estimate
  NoiseLevel noise;              ///< told, or measured before learning; the choices follow from it
  std::vector<Learned> learned;  ///< the models, the first one is the main one
  int nonlocal_rounds = 0, group_rounds = 0;
  double seconds_grouping = 0;
};

/// Throws Error for a picture that is too small or flat. A watcher that stops it gets Interrupted, with the picture.
GSC_EXPORT Denoised denoise(const Picture& noisy, const DenoiseOptions& options, Watcher* watcher = nullptr);

struct DenoisePlan;
/// What denoise() is going to do, and how long that takes, for who wants to know before.
struct PlannedDenoising {
  NoiseLevel noise;                         ///< told, or measured; the choices follow from it
  std::string text;                         ///< what will be done, in a line
  double seconds = 0;                       ///< a guess, on the threads of the options
  std::shared_ptr<const DenoisePlan> plan;  ///< for denoise_as_planned()
};
/// Throws what denoise() would of the picture and the options. Measures the noise unless it is told.
GSC_EXPORT PlannedDenoising plan_denoising(const Picture& noisy, const DenoiseOptions& options);
/// Goes on from there, of the same picture.
GSC_EXPORT Denoised denoise_as_planned(const Picture& noisy, const PlannedDenoising& planned,
                                       Watcher* watcher = nullptr);

/// As the options tell it, else measured.
GSC_EXPORT NoiseLevel noise_level(const Picture& picture, const DenoiseOptions& options);

GSC_EXPORT std::string_view to_string(Quality quality);
GSC_EXPORT std::string_view to_string(PatchMean mean);
GSC_EXPORT std::string_view to_string(PatchWeights weights);
GSC_EXPORT std::string_view to_string(NoiseSource source);

template <>
inline constexpr std::array kValues<Quality>{Quality::fast, Quality::standard, Quality::best};
template <>
inline constexpr std::array kValues<PatchMean>{PatchMean::remove, PatchMean::keep};
template <>
inline constexpr std::array kValues<PatchWeights>{PatchWeights::equal, PatchWeights::certainty};
template <>
inline constexpr std::array kValues<NoiseSource>{NoiseSource::measured, NoiseSource::learned};

}  // namespace gsc
