// Blind source separation.

#include <gsc/separate.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "interruptible.h"

namespace gsc::python {
namespace {

template <class Enum>
std::vector<std::string> all_words() {
  std::vector<std::string> all;
  for (const Enum value : kValues<Enum>) all.emplace_back(to_string(value));
  return all;
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

nb::dict separate_channels(const AnyTable& X, const nb::dict& texts, int restarts, const std::string& whiten,
                           bool fastica_start, const std::string& nonlinearity, const std::string& decorrelation,
                           nb::object callback) {
  SeparateOptions options;
  options.learning = choices_of(texts);
  options.restarts = restarts;
  options.whiten = word_of<Whiten>("whiten", whiten);
  options.start_from_fastica = fastica_start;
  options.fastica.nonlinearity = word_of<Nonlinearity>("nonlinearity", nonlinearity);
  options.fastica.decorrelation = word_of<Decorrelation>("decorrelation", decorrelation);
  Interruptible work;
  const ArrayData data(X, work.stop());
  PythonWatcher watcher(work, std::move(callback));
  Separation separation;
  work.run([&] { separation = separate(mixture_of(data), options, &watcher); });
  nb::dict values = result_of(std::move(separation.fit));
  values["sources"] = array_of(Matrix(separation.sources.transpose()));
  values["options"] = texts_of(separation.options);
  values["winner"] = separation.winner;
  values["free_energies"] = separation.free_energies;
  values["whitened"] = separation.whitened;
  values["noise_share"] = separation.noise_share;
  values["notes"] = separation.notes;
  return values;
}

/// By FastICA. `start`: a mixing matrix, channels x sources.
nb::dict separate_by_direction(const AnyTable& X, Index latents, const std::string& nonlinearity,
                               const std::string& decorrelation, int iterations, double tolerance,
                               const std::optional<PlainMatrix>& start, std::uint64_t seed, int threads) {
  SeparateOptions options;
  options.method = SeparateMethod::fastica;
  if (latents > 0) options.learning.latents = latents;
  options.learning.seed = seed;
  options.learning.inference.threads = threads;
  options.fastica.nonlinearity = word_of<Nonlinearity>("nonlinearity", nonlinearity);
  options.fastica.decorrelation = word_of<Decorrelation>("decorrelation", decorrelation);
  options.fastica.iterations = iterations;
  options.fastica.tolerance = tolerance;
  if (start) options.fastica.start = matrix_of(*start);
  Interruptible work;
  const ArrayData data(X, work.stop());
  PythonWatcher watcher(work, nb::none());
  Separation separation;
  Vector mean;
  work.run([&] {
    const Matrix mixture = mixture_of(data);
    mean = mixture.rowwise().mean();
    separation = separate(mixture, options, &watcher);
  });
  nb::dict values;
  values["mixing"] = array_of(std::move(separation.mixing));
  values["sources"] = array_of(Matrix(separation.sources.transpose()));
  values["mean"] = array_of(std::move(mean));
  values["iterations"] = separation.fastica->iterations;
  values["converged"] = separation.fastica->converged;
  values["notes"] = separation.notes;
  return values;
}

}  // namespace

void bind_separate(nb::module_& module) {
  module.def("separate", &separate_channels, nb::arg("X"), nb::arg("options"), nb::arg("restarts"), nb::arg("whiten"),
             nb::arg("fastica_start"), nb::arg("nonlinearity"), nb::arg("decorrelation"), nb::arg("callback").none());
  module.def("separate_by_fastica", &separate_by_direction, nb::arg("X"), nb::arg("latents"), nb::arg("nonlinearity"),
             nb::arg("decorrelation"), nb::arg("iterations"), nb::arg("tolerance"), nb::arg("start").none(),
             nb::arg("seed"), nb::arg("threads"));
  // What separation takes where an option is left out, which is not always what learning does.
  module.def("separate_usual", [] { return texts_of(SeparateOptions().resolved(1)); });
  module.attr("separate_fastica_start") = SeparateOptions().start_from_fastica;
  module.attr("whiten_words") = all_words<Whiten>();
  module.attr("nonlinearity_words") = all_words<Nonlinearity>();
  module.attr("decorrelation_words") = all_words<Decorrelation>();
  const FasticaOptions fastica;
  module.attr("fastica_usual") =
      nb::make_tuple(std::string(to_string(fastica.nonlinearity)), std::string(to_string(fastica.decorrelation)),
                     fastica.iterations, fastica.tolerance);
}

}  // namespace gsc::python
