// Blind source separation.

#include <gsc/separate.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <array>

#include "bindings.h"
#include "interruptible.h"

namespace gsc::python {
namespace {

constexpr std::array kWhiten{Whiten::automatic, Whiten::on, Whiten::off};

Whiten whiten_of(const std::string& word) {
  std::string words;
  for (const Whiten value : kWhiten) {
    if (to_string(value) == word) return value;
    words += std::string(words.empty() ? "" : ", ") + std::string(to_string(value));
  }
  throw UsageError("whiten is '" + word + "'; choose one of " + words);
}

/// Channels x samples of an array with a row for each sample.
Matrix mixture_of(const ArrayData& data) {
  constexpr Index kRows = 4096;
  Matrix mixture(data.cols(), data.rows()), block;
  for (Index first = 0; first < data.rows(); first += kRows) {
    block.resize(std::min(kRows, data.rows() - first), data.cols());
    data.read(first, block);
    mixture.middleCols(first, block.rows()) = block.transpose();
  }
  return mixture;
}

nb::dict separate_channels(const AnyTable& X, const nb::dict& texts, bool choose_method, int restarts,
                           const std::string& whiten, bool fastica_start, nb::object callback) {
  SeparateOptions options;
  options.fit = options_of(texts, options.fit);
  options.choose_method = choose_method;
  options.restarts = restarts;
  options.whiten = whiten_of(whiten);
  options.start_from_fastica = fastica_start;
  Interruptible work;
  const ArrayData data(X, work.stop());
  PythonObserver observer(work, std::move(callback));
  Separation separation;
  work.run([&] { separation = separate(mixture_of(data), options, &observer); });
  nb::dict values = result_of(std::move(separation.fit));
  values["sources"] = array_of(Matrix(separation.sources.transpose()));
  separation.options.inference = separation.options.inference.resolved(separation.options.latents);
  values["options"] = texts_of(separation.options);
  values["winner"] = separation.winner;
  values["free_energies"] = separation.free_energies;
  values["whitened"] = separation.whitened;
  values["noise_share"] = separation.noise_share;
  values["notes"] = separation.notes;
  return values;
}

}  // namespace

void bind_separate(nb::module_& module) {
  module.def("separate", &separate_channels, nb::arg("X"), nb::arg("options"), nb::arg("choose_method"),
             nb::arg("restarts"), nb::arg("whiten"), nb::arg("fastica_start"), nb::arg("callback").none());
  // What separation takes where an option is left out, which is not always what learning does.
  module.def("separate_usual", [] { return texts_of(SeparateOptions().fit); });
  module.attr("separate_fastica_start") = SeparateOptions().start_from_fastica;
  std::vector<std::string> words;
  for (const Whiten value : kWhiten) words.emplace_back(to_string(value));
  module.attr("whiten_words") = words;
}

}  // namespace gsc::python
