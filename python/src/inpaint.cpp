// Inpainting: planes with NaN for what is missing go in, whole ones come out.

#include <gsc/inpaint.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "interruptible.h"
#include "pictures.h"

namespace gsc::python {
namespace {

/// From a model and the texts of its options of inference.
std::shared_ptr<const PatchModel> patch_model(const nb::tuple& learned) {
  const auto& model = nb::cast<const Model&>(learned[0]);
  return std::make_shared<const PatchModel>(
      PatchModel{model, options_of(nb::cast<nb::dict>(learned[1])).inference.resolved(model.latents())});
}

/// `options`: a dictionary of those that are given.
InpaintOptions inpaint_options(const nb::dict& given) {
  InpaintOptions options;
  for (const auto [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (name == "quality")
      options.quality = word_of<Quality>(name, nb::cast<std::string>(value));
    else if (name == "patch")
      options.patch = nb::cast<Index>(value);
    else if (name == "groups")
      options.groups = nb::cast<int>(value);
    else if (name == "sigma")
      options.noise = nb::cast<double>(value);
    else if (name == "keep_observed")
      options.keep_observed = nb::cast<bool>(value);
    else if (name == "seed")
      options.seed = nb::cast<std::uint64_t>(value);
    else if (name == "threads")
      options.threads = nb::cast<int>(value);
    else if (name == "learned")
      options.learned = patch_model(nb::cast<nb::tuple>(value));
    else
      throw UsageError("inpaint has no option '" + name + "'");
  }
  options.validate();
  return options;
}

nb::dict inpaint_planes(const Planes& planes, const std::string& depth, const nb::dict& given, nb::object callback) {
  const InpaintOptions options = inpaint_options(given);
  const Picture damaged = picture_of(planes, depth);
  Interruptible work;
  PythonWatcher watch(work, std::move(callback));
  Inpainted inpainted;
  work.run([&] { inpainted = inpaint(damaged, options, &watch); });
  const HeldOut& held_out = inpainted.held_out;
  nb::dict told;
  told["values"] = held_out.values;
  told["rmse"] = held_out.rmse;
  told["psnr"] = held_out.psnr;
  told["at_least"] = held_out.at_least;
  told["coverage"] = held_out.coverage;
  nb::dict values;
  values["picture"] = array_of(planes_of(inpainted.picture));
  values["std"] = nb::none();
  if (!inpainted.std.channels.empty()) values["std"] = array_of(planes_of(inpainted.std));
  values["sigma"] = inpainted.noise.std;
  values["kept"] = inpainted.kept;
  values["held_out"] = told;
  return values;
}

}  // namespace

void bind_inpaint(nb::module_& module) {
  module.def("inpaint", &inpaint_planes, nb::arg("planes"), nb::arg("depth"), nb::arg("options"),
             nb::arg("callback").none());
}

}  // namespace gsc::python
