// Posteriors, chunk by chunk into arrays of the asked type: beside them only one chunk is in memory.

#include <gsc/missing.h>
#include <nanobind/stl/set.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <set>

#include "bindings.h"
#include "interruptible.h"

namespace gsc::python {
namespace {

/// What is wanted of the posterior, and where it goes.
template <class Real>
class Posteriors {
 public:
  Posteriors(const std::set<std::string>& wanted, Index rows) : wanted_(wanted), rows_(rows) {}

  void place(const Posterior& chunk, Index first) {
    place("mean", mean_, chunk.mean, first);
    place("probability", probability_, chunk.probability, first);
    place("variance", variance_, chunk.variance, first);
    place("log_likelihood", log_likelihood_, chunk.log_likelihood, first);
    place("state_weights", state_weights_, chunk.state_weights, first);
    place("states", states_, chunk.states, first);
    max_active_ = chunk.max_active;
    clamped_pivots_ += chunk.clamped_pivots;
  }

  nb::dict arrays() {
    nb::dict all;
    for (auto& [name, table] : {std::pair<const char*, Table<Real>*>{"mean", &mean_},
                                {"probability", &probability_},
                                {"variance", &variance_},
                                {"log_likelihood", &log_likelihood_},
                                {"state_weights", &state_weights_}})
      if (table->size() > 0) all[name] = array_of(std::move(*table));
    if (states_.size() > 0) all["states"] = array_of(std::move(states_));
    all["max_active"] = max_active_;
    all["clamped_pivots"] = clamped_pivots_;
    return all;
  }

 private:
  template <class Value, class Chunk>
  void place(const char* name, Table<Value>& whole, const Chunk& chunk, Index first) {
    if (!wanted_.contains(name) || chunk.size() == 0) return;
    if (whole.size() == 0) whole.resize(rows_, chunk.cols());
    whole.middleRows(first, chunk.rows()) = chunk.template cast<Value>();
  }

  const std::set<std::string>& wanted_;
  Index rows_, max_active_ = 0;
  std::int64_t clamped_pivots_ = 0;
  Table<Real> mean_, probability_, variance_, log_likelihood_, state_weights_;
  Table<std::int32_t> states_;
};

template <class Real>
nb::dict infer_as(const ArrayData& data, const Model& model, const InferenceOptions& options,
                  const std::set<std::string>& wanted, Index states, Interruptible& work) {
  const PosteriorRequest request{wanted.contains("variance"), states, false};
  Posteriors<Real> posteriors(wanted, data.rows());
  work.run([&] {
    const Index step = std::clamp<Index>((Index{1} << 20) / model.latents(), 1024, 65536);  // some 16 MB
    for (Index first = 0; first < data.rows(); first += step)
      posteriors.place(infer(model, data, options, request, first, std::min(step, data.rows() - first),
                             [&] { return work.stop().load(); }),
                       first);
  });
  return posteriors.arrays();
}

nb::dict infer_arrays(const AnyTable& X, const Model& model, const nb::dict& texts, const std::set<std::string>& wanted,
                      Index states, bool single) {
  const InferenceOptions options = options_of(texts).inference.resolved(model.latents());
  options.validate(model.latents());
  Interruptible work;
  const ArrayData data(X, work.stop());
  return single ? infer_as<float>(data, model, options, wanted, states, work)
                : infer_as<double>(data, model, options, wanted, states, work);
}

/// Mean, deviation, and of how many data points the posterior was repaired.
nb::tuple impute_arrays(const AnyTable& X, const Model& model, const nb::dict& texts, bool denoise_observed) {
  InferenceOptions options = options_of(texts).inference.resolved(model.latents());
  options.missing = Missing::nan;
  options.validate(model.latents());
  Interruptible work;
  const ArrayData data(X, work.stop());
  Imputed imputed;
  work.run([&] {
    imputed =
        impute(model, data, options, {.denoise_observed = denoise_observed}, 0, -1, [&] { return work.stop().load(); });
  });
  return nb::make_tuple(array_of(std::move(imputed.mean)), array_of(std::move(imputed.std)), imputed.clamped_pivots);
}

}  // namespace

void bind_infer(nb::module_& module) {
  module.def("infer", &infer_arrays, nb::arg("X"), nb::arg("model"), nb::arg("options"), nb::arg("wanted"),
             nb::arg("states"), nb::arg("single"));
  module.def("impute", &impute_arrays, nb::arg("X"), nb::arg("model"), nb::arg("options"), nb::arg("denoise_observed"));
}

}  // namespace gsc::python
