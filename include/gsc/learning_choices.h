#pragma once
// What somebody chose of the options of learning. All else is a preset's: of fit(), of denoising, of separation.

#include <gsc/export.h>
#include <gsc/fit.h>

#include <optional>
#include <string>
#include <string_view>

namespace gsc {

/// Every option of FitOptions under the same name and in the same place, set or left out. What they mean stands there.
struct LearningChoices {
  std::optional<Index> latents;
  struct {
    std::optional<Method> method;
    std::optional<Index> candidates, max_active;
    std::optional<Selection> selection;
    std::optional<Precision> precision;
    std::optional<Missing> missing;
    std::optional<Index> gap_memory;
    std::optional<int> threads;
    std::optional<std::string> device;
    struct {
      std::optional<Coding> coding;
      std::optional<double> lambda, error_gain;
      std::optional<Index> atoms_per_point;
    } coding;
    std::optional<Index> draws;
  } inference;
  std::optional<NoiseType> noise;
  std::optional<SlabType> slab;
  std::optional<Init> init;
  std::optional<Intercept> intercept;
  std::optional<double> sigma;
  std::optional<Update> noise_update, slab_update;
  struct {
    std::optional<BasisPrior> basis_prior;
    std::optional<double> length_scale;
    std::optional<bool> shared_prior;
    std::optional<SweepOrder> order;
  } factored;
  struct {
    std::optional<AtomUpdate> atom_update;
    std::optional<double> decay;
  } dictionary;
  struct {
    std::optional<UsagePrior> usage_prior;
    std::optional<int> chains, burn_in;
  } beta_process;
  std::optional<int> iterations;
  std::optional<Index> batch;
  std::optional<int> polish;
  std::optional<double> tolerance;
  std::optional<std::uint64_t> seed;
  std::optional<Shape> shape;
  struct {
    std::optional<Partition> partition;
    std::optional<double> alpha;
  } sharing;

  /// The method that is chosen, or the usual one.
  Method method() const { return inference.method.value_or(InferenceOptions().method); }
};

/// The preset with the choices put on top. Throws UsageError for the first one that changes nothing or stands for
/// nothing: one that is not of the method, or a 0 that means "left out". Ranges are FitOptions::validate()'s to check.
GSC_EXPORT FitOptions apply(const LearningChoices& choices, FitOptions preset);

/// Those of them that the method reads, with the coding that is chosen.
GSC_EXPORT LearningChoices choices_for(LearningChoices choices, Method method);

/// Whether the option of this name is set.
GSC_EXPORT bool is_set(const LearningChoices& choices, std::string_view name);

}  // namespace gsc
