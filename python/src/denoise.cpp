// Denoising.

#include <gsc/denoise.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "interruptible.h"
#include "pictures.h"

namespace gsc::python {
namespace {

DenoiseOptions denoise_options(const nb::dict& texts) {
  DenoiseOptions options;
  for (const auto [key, value] : texts) {
    const auto name = nb::cast<std::string>(key), text = nb::cast<std::string>(value);
    if (text != "auto" || name == "device") set_option(options, name, text);
  }
  options.validate();
  return options;
}

nb::dict option_words() {
  nb::dict all;
  for (const OptionDescription& option : denoise_option_list()) all[option.name.c_str()] = option.words;
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
    nb::dict model = result_of(std::move(one.fit), options.learning.method());
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
