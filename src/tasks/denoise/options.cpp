// What DenoiseOptions may say.

#include <gsc/denoise.h>

#include <algorithm>
#include <array>

#include "learning/fit_option_list.h"
#include "learning/option_text.h"

namespace gsc {
namespace {

/// Options of learning that are settled for pictures: patches have no means, one noise, and the shape of a patch.
constexpr std::array kSettled{"noise",      "slab",         "intercept",   "shape",    "missing",
                              "gap_memory", "noise_update", "slab_update", "tolerance"};

bool is_settled(std::string_view name) { return std::find(kSettled.begin(), kSettled.end(), name) != kSettled.end(); }

/// Calls visit(OptionInfo, field) for each option that is of denoising alone.
template <class Options, class Visit>
void for_each_own_option(Options& options, const Visit& visit) {
  visit({.name = "quality", .value = "", .help = "sets what is left out of the others"}, options.quality);
  visit({.name = "patch",
         .value = "P",
         .help = "patches of P x P pixels",
         .smallest = 2,
         .largest = 64,
         .remedy = "it must be between 2 and 64"},
        options.patch);
  visit({.name = "stride",
         .value = "N",
         .help = "pixels from one patch to the next, in the final averaging",
         .smallest = 1,
         .remedy = "it must be at least 1"},
        options.stride);
  visit({.name = "patch_mean", .value = "", .help = "take each patch's mean out before learning, or keep it"},
        options.patch_mean);
  visit({.name = "models",
         .value = "N",
         .help = "models to learn, of different patches; their pictures are averaged",
         .smallest = 1,
         .largest = 16,
         .remedy = "it must be between 1 and 16"},
        options.models);
  visit({.name = "weights", .value = "", .help = "of overlapping patches: equal, or by how certain each is"},
        options.weights);
  visit({.name = "noise", .value = "", .help = "how strong the noise is: measured, or learned with the model"},
        options.noise);
  visit({.name = "nonlocal",
         .value = "N",
         .help = "rounds of inference with a prior of its own for every patch, from patches like it",
         .smallest = 0,
         .largest = 10,
         .remedy = "it must be between 0 and 10"},
        options.nonlocal);
  visit({.name = "groups",
         .value = "N",
         .help = "rounds of a second opinion: groups of patches that look alike as Gaussians",
         .smallest = 0,
         .largest = 20,
         .remedy = "it must be between 0 and 20"},
        options.groups);
  visit({.name = "train_patches",
         .value = "N",
         .help = "learn on so many random patches where there are more",
         .smallest = 2,
         .remedy = "it must be at least 2"},
        options.train_patches);
}

template <class Value>
void check_own(const OptionInfo& option, const std::optional<Value>& value) {
  if (value) check_range(option, *value);
}
void check_own(const OptionInfo& /*option*/, Quality /*quality*/) {}

/// Options of denoising that this method has no use for.
void check_method(const DenoiseOptions& options) {
  const Method method = options.learning.method();
  const auto refuse = [&](const std::string& what, const std::string& why) {
    throw UsageError(what + ", but method is " + std::string(to_string(method)) + ", " + why);
  };
  if (point_estimate(method) && options.noise == NoiseSource::learned)
    refuse("the noise level is learned", "which must be told it; leave it out");
  if (point_estimate(method) && options.weights == PatchWeights::certainty)
    refuse("weights is certainty", "which knows nothing of that; let them be equal");
  const bool learns_noise = !traits(method).has_states && !traits(method).needs_noise_level;
  if (learns_noise && options.learning.sigma)
    throw UsageError("sigma is " + number_text(*options.learning.sigma) + ", but the " +
                     std::string(to_string(method)) + " method learns the noise level; leave it out");
  if (learns_noise && options.noise == NoiseSource::measured)
    throw UsageError("the noise is to be measured, but the " + std::string(to_string(method)) +
                     " method learns it; leave that out");
}

}  // namespace

std::vector<OptionDescription> denoise_option_list() {
  std::vector<OptionDescription> list;
  const auto describe = [&]<class Value>(const OptionInfo& option, const std::optional<Value>& /*left out*/) {
    list.push_back(description_of(option, Value()));
    list.back().usual.clear();
  };
  const DenoiseOptions options;
  for_each_own_option(options, [&]<class Value>(const OptionInfo& option, const Value& value) {
    if constexpr (std::is_enum_v<Value>)
      list.push_back(description_of(option, value));
    else
      describe(option, value);
  });
  for (OptionDescription& option : fit_option_list())
    if (!is_settled(option.name)) list.push_back(std::move(option));
  return list;
}

void set_option(DenoiseOptions& options, std::string_view name, const std::string& text) {
  bool own = false;
  for_each_own_option(options, [&](const OptionInfo& option, auto& value) {
    if (option.name != name) return;
    own = true;
    read_value(name, text, value);
  });
  if (own) return;
  const std::vector<OptionDescription> list = denoise_option_list();
  if (std::none_of(list.begin(), list.end(), [&](const OptionDescription& option) { return option.name == name; })) {
    std::string names;
    for (const OptionDescription& option : list) names += (names.empty() ? "" : ", ") + option.name;
    throw UsageError("denoising has no option '" + std::string(name) + "'; the options are " + names);
  }
  set_option(options.learning, name, text);
}

NoiseLevel noise_level(const Picture& picture, const DenoiseOptions& options) {
  if (!options.learning.sigma) return measure_noise(picture, options.learning.inference.threads.value_or(0));
  NoiseLevel level;
  level.std = *options.learning.sigma;
  level.told = true;
  return level;
}

void DenoiseOptions::validate() const {
  for_each_own_option(*this, [](const OptionInfo& option, const auto& value) { check_own(option, value); });
  for (const char* name : kSettled)
    if (is_set(learning, name))
      throw UsageError(std::string(name) + " is given, but it is the same for all pictures; leave it out");
  refuse_choices_of_others(learning, learning.method());
  if (learning.sigma && noise == NoiseSource::learned)
    throw UsageError("sigma is " + number_text(*learning.sigma) +
                     ", but the noise level is learned; choose one of the two");
  check_method(*this);
  if (patch && stride && *stride > *patch)
    throw UsageError("stride is " + std::to_string(*stride) +
                     "; it must be at most the patch size, so that every pixel lies in a patch");
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
