// Denoising. Most of its options are of learning, too, and are read as there; the others are listed here.

#include <gsc/denoise.h>
#include <gsc/option_list.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <charconv>

#include "bindings.h"
#include "interruptible.h"
#include "pictures.h"

namespace gsc::python {
namespace {

constexpr std::array kQualities{Quality::fast, Quality::standard, Quality::best};
constexpr std::array kMeans{PatchMean::remove, PatchMean::keep};
constexpr std::array kWeights{PatchWeights::equal, PatchWeights::certainty};
constexpr std::array kNoises{NoiseSource::measured, NoiseSource::learned};

/// Calls visit(name, field, words) for each option that is of denoising alone.
template <class Visit>
void for_each_own_option(DenoiseOptions& options, const Visit& visit) {
  const auto words = [](const auto& values) {
    std::vector<std::string> all;
    for (const auto value : values) all.emplace_back(to_string(value));
    return all;
  };
  const auto word = [&](const char* name, auto& field, const auto& values) {
    visit(name, words(values), [&](const std::string& text) {
      for (const auto value : values)
        if (to_string(value) == text) {
          field = value;
          return true;
        }
      return false;
    });
  };
  const auto number = [&](const char* name, auto& field) {
    visit(name, std::vector<std::string>(), [&](const std::string& text) {
      typename std::decay_t<decltype(field)>::value_type value{};
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      field = value;
      return error == std::errc() && end == text.data() + text.size();
    });
  };
  word("quality", options.quality, kQualities);
  word("patch_mean", options.patch_mean, kMeans);
  word("weights", options.weights, kWeights);
  word("noise", options.noise, kNoises);
  number("sigma", options.sigma);
  number("patch", options.patch);
  number("stride", options.stride);
  number("latents", options.latents);
  number("candidates", options.candidates);
  number("max_active", options.max_active);
  number("iterations", options.iterations);
  number("models", options.models);
  number("nonlocal", options.nonlocal);
  number("groups", options.groups);
  number("batch", options.batch);
  number("train_patches", options.train_patches);
  number("chains", options.chains);
  number("burn_in", options.burn_in);
  number("draws", options.draws);
}

/// Those that are read as options of learning.
constexpr std::array kOfLearning{
    "method",      "selection",   "precision",    "init",         "polish",      "seed",       "threads",
    "device",      "basis_prior", "length_scale", "shared_prior", "sweep_order", "error_gain", "atoms_per_point",
    "atom_update", "coding",      "lambda",       "decay",        "usage_prior"};

bool set_own_option(DenoiseOptions& options, const std::string& name, const std::string& text) {
  bool known = false;
  for_each_own_option(options, [&](const std::string& own, const std::vector<std::string>& words, const auto& set) {
    if (own != name) return;
    known = true;
    if (set(text)) return;
    std::string expected;
    for (const std::string& word : words) expected += (expected.empty() ? "choose one of " : ", ") + word;
    throw UsageError(name + " is '" + text + "'; " +
                     (!words.empty()    ? expected
                      : name == "sigma" ? "it must be a number"
                                        : "it must be a whole number"));
  });
  return known;
}

/// Throws UsageError for an option of learning that is not of the method.
void check_read_by(Method method, const std::vector<std::string>& given) {
  for (const OptionDescription& option : fit_option_list()) {
    const std::vector<Method>& methods = option.methods;
    if (methods.empty() || std::find(given.begin(), given.end(), option.name) == given.end()) continue;
    if (std::find(methods.begin(), methods.end(), method) != methods.end()) continue;
    std::string words;
    for (const Method other : methods) words += (words.empty() ? "" : ", ") + std::string(to_string(other));
    throw UsageError(option.name + " is for " + words + ", but method is " + std::string(to_string(method)) +
                     "; leave it out");
  }
}

DenoiseOptions denoise_options(const nb::dict& texts) {
  DenoiseOptions options;
  FitOptions learning;
  learning.inference.precision = options.precision;
  learning.polish = options.polish;
  std::vector<std::string> given;
  for (const auto [key, value] : texts) {
    const auto name = nb::cast<std::string>(key), text = nb::cast<std::string>(value);
    if (text == "auto" && name != "device") continue;
    if (name != "noise") given.push_back(name);  // which is another thing in learning
    if (set_own_option(options, name, text)) continue;
    if (std::find(kOfLearning.begin(), kOfLearning.end(), name) == kOfLearning.end())
      throw UsageError("denoise has no option '" + name + "'; gsc.denoise_options() lists those there are");
    set_option(learning, name, text);
    if (name == "init") options.init = learning.init;
  }
  options.method = learning.inference.method;
  check_read_by(options.method, given);
  options.selection = learning.inference.selection;
  options.precision = learning.inference.precision;
  options.polish = learning.polish;
  options.seed = learning.seed;
  options.threads = learning.inference.threads;
  options.device = learning.inference.device;
  options.factored = learning.factored;
  options.coding = learning.inference.coding;
  options.coding_chosen = std::find(given.begin(), given.end(), "coding") != given.end();
  options.dictionary = learning.dictionary;
  options.usage_prior = learning.beta_process.usage_prior;
  options.validate();
  return options;
}

nb::dict option_words() {
  nb::dict all;
  DenoiseOptions options;
  for_each_own_option(options,
                      [&](const char* name, const std::vector<std::string>& words, const auto&) { all[name] = words; });
  for (const OptionDescription& option : fit_option_list())
    if (std::find(kOfLearning.begin(), kOfLearning.end(), option.name) != kOfLearning.end())
      all[option.name.c_str()] = option.words;
  return all;
}

nb::dict noise_dict(const NoiseLevel& noise) {
  nb::dict values;
  values["std"] = noise.std;
  values["error"] = noise.error;
  values["uncertain"] = noise.uncertain;
  values["why"] = noise.why;
  return values;
}

nb::dict denoise_planes(const Planes& planes, const std::string& depth, const nb::dict& texts, nb::object callback) {
  const DenoiseOptions options = denoise_options(texts);
  const Picture noisy = picture_of(planes, depth);
  Interruptible work;
  PythonWatcher watch(work, std::move(callback));
  Denoised denoised;
  work.run([&] { denoised = denoise(noisy, options, &watch); });
  nb::dict values;
  values["picture"] = array_of(planes_of(denoised.picture));
  if (!denoised.std.channels.empty()) values["std"] = array_of(planes_of(denoised.std));
  values["noise"] = noise_dict(denoised.noise);
  nb::list learned;
  for (Denoised::Learned& one : denoised.learned) {
    nb::dict model = result_of(std::move(one.fit), options.method);
    model["patch"] = one.patch;
    learned.append(model);
  }
  values["learned"] = learned;
  return values;
}

nb::dict measure(const Planes& planes, const std::string& depth) {
  const Picture picture = picture_of(planes, depth);
  Interruptible work;
  NoiseLevel noise;
  work.run([&] { noise = measure_noise(picture); });
  return noise_dict(noise);
}

}  // namespace

void bind_denoise(nb::module_& module) {
  module.def("denoise_options", &option_words);
  module.def("denoise", &denoise_planes, nb::arg("planes"), nb::arg("depth"), nb::arg("options"),
             nb::arg("callback").none());
  module.def("measure_noise", &measure, nb::arg("planes"), nb::arg("depth"));
}

}  // namespace gsc::python
