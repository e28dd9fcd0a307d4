#pragma once
// What the files here give to each other. Each bind_*() adds its functions to the module.

#include <gsc/learning_choices.h>
#include <gsc/words.h>
#include <nanobind/nanobind.h>

#include <string>

#include "array_data.h"

namespace gsc::python {

void bind_options(nb::module_& module);
void bind_model(nb::module_& module);
void bind_fit(nb::module_& module);
void bind_infer(nb::module_& module);
void bind_separate(nb::module_& module);
void bind_denoise(nb::module_& module);
void bind_inpaint(nb::module_& module);
void bind_functions(nb::module_& module);

/// Options by name, as texts that set_option() takes.
LearningChoices choices_of(const nb::dict& texts);
FitOptions options_of(const nb::dict& texts);
/// A value of an enumeration for the parameter `name`. Throws UsageError where the word is none.
template <class Enum>
Enum word_of(const std::string& name, const std::string& word) {
  if (const std::optional<Enum> value = find_word<Enum>(word)) return *value;
  throw UsageError(name + " is '" + word + "'; choose one of " + words<Enum>());
}

/// All of them as texts.
nb::dict texts_of(const FitOptions& options);

/// The columns of a history, and what a method keeps beside the parameters.
nb::dict history_of(const std::vector<IterationReport>& history, Method method);
nb::dict rescues_of(const Rescues& rescues);
nb::dict method_of(const MethodState& state);

/// A fit as a dictionary: model, history, rescues, method, reason, seconds.
nb::dict result_of(FitResult result, Method method = kUsualMethod);

}  // namespace gsc::python
