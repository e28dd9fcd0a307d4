// Parameters as arrays, and data drawn from them.

#include <gsc/generate.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "bindings.h"

namespace gsc::python {
namespace {

SlabType slab_type(const std::string& word) { return word == "full" ? SlabType::full : SlabType::diagonal; }

Noise noise_of(const std::string& type, const Matrix& values, Index dimensions) {
  if (type == "full") return Noise::full(values);
  if (type == "diagonal") return Noise::diagonal(values.col(0));
  return Noise::scalar(values(0, 0), dimensions);
}

/// slab and noise as in model files, but always with two axes: H x 1 or H x H; 1 x 1, D x 1 or D x D.
Model make_model(const PlainMatrix& W, const PlainVector& pi, const PlainVector& mu, const std::string& slab_word,
                 const PlainMatrix& slab, const std::string& noise_word, const PlainMatrix& noise,
                 const std::optional<PlainVector>& intercept, const std::optional<PlainMatrix>& W_variance) {
  Model model;
  model.W = matrix_of(W);
  model.pi = vector_of(pi);
  model.mu = vector_of(mu);
  model.slab =
      slab_type(slab_word) == SlabType::full ? Slab::full(matrix_of(slab)) : Slab::diagonal(matrix_of(slab).col(0));
  model.noise = noise_of(noise_word, matrix_of(noise), model.W.rows());
  if (intercept) model.intercept = vector_of(*intercept);
  if (W_variance) model.W_variance = matrix_of(*W_variance);
  model.validate();
  return model;
}

nb::dict arrays_of(const Model& model) {
  nb::dict arrays;
  arrays["W"] = array_of(model.W);
  arrays["pi"] = array_of(model.pi);
  arrays["mu"] = array_of(model.mu);
  arrays["slab_type"] = std::string(to_string(model.slab.type()));
  arrays["slab"] = array_of(model.slab.values());
  arrays["noise_type"] = std::string(to_string(model.noise.type()));
  arrays["noise"] = array_of(model.noise.values());
  arrays["intercept"] = model.intercept.size() > 0 ? nb::cast(array_of(model.intercept)) : nb::none();
  arrays["W_variance"] = model.W_variance.size() > 0 ? nb::cast(array_of(model.W_variance)) : nb::none();
  return arrays;
}

nb::tuple draw(const Model& model, Index count, std::uint64_t seed) {
  Sample drawn;
  {
    const nb::gil_scoped_release release;
    Random random(seed);
    drawn = sample(model, count, random);
  }
  return nb::make_tuple(array_of(std::move(drawn.data)), array_of(std::move(drawn.spikes)),
                        array_of(std::move(drawn.slabs)));
}

/// The model and the data of the same generator, as `gsc sample --generator bars` draws them.
nb::tuple draw_bars(Index latents, Index count, std::optional<double> noise_std, std::uint64_t seed) {
  Random random(seed);
  Model model = bars_model(latents, random);
  if (noise_std) model.noise = Noise::scalar(*noise_std * *noise_std, model.dimensions());
  Sample drawn = sample(model, count, random);
  return nb::make_tuple(array_of(std::move(drawn.data)), array_of(std::move(drawn.spikes)),
                        array_of(std::move(drawn.slabs)), model);
}

nb::tuple draw_mixture(const std::string& word, Index sources, Index count, double noise_std, double perturbation,
                       std::uint64_t seed) {
  Random random(seed);
  Matrix mixing = mixing_matrix(sources, perturbation, random);
  const Coefficients coefficients = word == "cauchy" ? Coefficients::cauchy : Coefficients::laplace;
  Matrix data = superposition(mixing, coefficients, noise_std, count, random);
  return nb::make_tuple(array_of(std::move(data)), array_of(std::move(mixing)));
}

}  // namespace

void bind_model(nb::module_& module) {
  nb::class_<Model>(module, "Model")
      .def("arrays", &arrays_of)
      .def_prop_ro("latents", &Model::latents)
      .def_prop_ro("dimensions", &Model::dimensions);
  module.def("make_model", &make_model, nb::arg("W"), nb::arg("pi"), nb::arg("mu"), nb::arg("slab_type"),
             nb::arg("slab"), nb::arg("noise_type"), nb::arg("noise"), nb::arg("intercept").none(),
             nb::arg("W_variance").none());
  module.def("sample", &draw, nb::arg("model"), nb::arg("count"), nb::arg("seed"));
  module.def("sample_bars", &draw_bars, nb::arg("latents"), nb::arg("count"), nb::arg("noise_std").none(),
             nb::arg("seed"));
  module.def("sample_mixture", &draw_mixture, nb::arg("coefficients"), nb::arg("sources"), nb::arg("count"),
             nb::arg("noise_std"), nb::arg("perturbation"), nb::arg("seed"));
}

}  // namespace gsc::python
