// Learning, from data as a whole or in pieces.

#include <gsc/fit_piece.h>
#include <gsc/restarts.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.h"
#include "interruptible.h"

namespace gsc::python {
namespace {

/// A start whose basis is given: the rest is drawn as without.
Model start_with(const PlainMatrix& dictionary, const Data& data, const FitOptions& options) {
  options.validate();
  const DataSummary summary =
      summarize(data, options.noise == NoiseType::full, options.inference.missing == Missing::nan);
  Random random(options.seed);
  Model start = initial_model(data, summary, options.latents, options.noise, options.slab, options.init, random,
                              options.intercept);
  start.W = matrix_of(dictionary).transpose();
  return start;
}

using Dictionary = std::optional<PlainMatrix>;  ///< H x D, as components_

nb::dict learn(const AnyTable& X, const nb::dict& texts, int restarts, std::optional<Model> start,
               const Dictionary& dictionary, nb::object callback) {
  const FitOptions options = options_of(texts);
  Interruptible work;
  const ArrayData data(X, work.stop());
  PythonWatcher watcher(work, std::move(callback), options.inference.method);
  Restarts result;
  work.run([&] {
    if (restarts != 1) {
      result = fit_restarts(data, options, restarts, &watcher);
      return;
    }
    if (dictionary) start = start_with(*dictionary, data, options);
    result.best = fit(data, options, &watcher, std::move(start));
    if (result.best.state.history.empty()) throw Interrupted("stopped before the first iteration: nothing was learned");
    result.free_energies = {result.best.last().free_energy};
  });
  nb::dict values = result_of(std::move(result.best), options.inference.method);
  values["winner"] = result.winner;
  values["free_energies"] = result.free_energies;
  values["notes"] = watcher.notes;
  return values;
}

MethodState method_state(const nb::dict& method) {
  MethodState state;
  for (const auto [name, value] : nb::cast<nb::dict>(method["numbers"]))
    state.numbers[nb::cast<std::string>(name)] = nb::cast<double>(value);
  for (const auto [name, value] : nb::cast<nb::dict>(method["arrays"]))
    state.arrays[nb::cast<std::string>(name)] = matrix_of(nb::cast<PlainMatrix>(value));
  return state;
}

nb::dict learn_piece(const AnyTable& X, const nb::dict& texts, std::optional<Model> model, const Dictionary& dictionary,
                     const nb::dict& method, int pieces, double points) {
  const FitOptions options = options_of(texts);
  Interruptible work;
  const ArrayData data(X, work.stop());
  PiecewiseState state{model ? std::move(*model) : Model(), method_state(method), pieces, points};
  IterationReport report;
  work.run([&] {
    if (dictionary && pieces == 0) state.model = start_with(*dictionary, data, options);
    report = fit_piece(state, data, options, [&] { return work.stop().load(); });
  });
  nb::dict values;
  values["model"] = std::move(state.model);
  values["method"] = method_of(state.method);
  values["row"] = row_of(report);
  values["pieces"] = state.pieces;
  values["points"] = state.points;
  return values;
}

}  // namespace

nb::dict history_of(const std::vector<IterationReport>& history, Method method) {
  nb::dict columns;
  for (const IterationReport& row : history)
    for (const auto [name, value] : row_of(row, method)) {
      if (!columns.contains(name)) columns[name] = nb::list();
      nb::cast<nb::list>(columns[name]).append(value);
    }
  return columns;
}

nb::dict rescues_of(const Rescues& rescues) {
  nb::dict values;
  values["unused_latents"] = rescues.unused_latents;
  values["floored_pi"] = rescues.floored_pi;
  values["floored_slab"] = rescues.floored_slab;
  values["floored_noise"] = rescues.floored_noise;
  values["slab_fallbacks"] = rescues.slab_fallbacks;
  values["gap_fallbacks"] = rescues.gap_fallbacks;
  values["replaced_atoms"] = rescues.replaced_atoms;
  values["clamped_pivots"] = rescues.clamped_pivots;
  return values;
}

nb::dict method_of(const MethodState& state) {
  nb::dict numbers, arrays, both;
  for (const auto& [name, value] : state.numbers) numbers[name.c_str()] = value;
  for (const auto& [name, values] : state.arrays) arrays[name.c_str()] = array_of(values);
  both["numbers"] = numbers;
  both["arrays"] = arrays;
  return both;
}

nb::dict result_of(FitResult result, Method method) {
  nb::dict values;
  values["history"] = history_of(result.state.history, method);
  values["rescues"] = rescues_of(result.state.rescues);
  values["method"] = method_of(result.state.method);
  values["model"] = std::move(result.state.model);
  values["reason"] = std::string(to_string(result.reason));
  values["seconds"] = result.seconds;
  return values;
}

void bind_fit(nb::module_& module) {
  module.def("fit", &learn, nb::arg("X"), nb::arg("options"), nb::arg("restarts"), nb::arg("start").none(),
             nb::arg("dictionary").none(), nb::arg("callback").none());
  module.def("fit_piece", &learn_piece, nb::arg("X"), nb::arg("options"), nb::arg("model").none(),
             nb::arg("dictionary").none(), nb::arg("method"), nb::arg("pieces"), nb::arg("points"));
}

}  // namespace gsc::python
