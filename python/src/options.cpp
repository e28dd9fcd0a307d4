// The library's one description of its options, for the package to follow.

#include <gsc/option_list.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <omp.h>

#include <algorithm>

#include "bindings.h"

namespace gsc::python {
namespace {

const char* kind_word(OptionKind kind) {
  switch (kind) {
    case OptionKind::integer:
      return "integer";
    case OptionKind::real:
      return "real";
    case OptionKind::word:
      return "word";
    case OptionKind::boolean:
      return "boolean";
    case OptionKind::text:
      return "text";
    case OptionKind::shape:
      return "shape";
  }
  return "";
}

nb::list option_list() {
  nb::list list;
  for (const OptionDescription& option : fit_option_list()) {
    nb::dict described;
    described["name"] = option.name;
    described["kind"] = kind_word(option.kind);
    described["words"] = option.words;
    described["usual"] = option.usual;
    described["smallest"] = option.smallest;
    described["largest"] = option.largest;
    described["help"] = option.help;
    described["attribute"] = option.attribute;
    nb::list methods;
    for (const Method method : option.methods) methods.append(std::string(to_string(method)));
    described["methods"] = methods;
    list.append(described);
  }
  return list;
}

/// threadpoolctl and OpenMP's own settings are of the calling thread, and the library asks neither.
int usual_threads() { return std::max(1, std::min(thread_count(0), omp_get_max_threads())); }

}  // namespace

LearningChoices choices_of(const nb::dict& texts) {
  LearningChoices choices;
  for (const auto [name, text] : texts) set_option(choices, nb::cast<std::string>(name), nb::cast<std::string>(text));
  return choices;
}

FitOptions options_of(const nb::dict& texts) {
  FitOptions options;
  for (const auto [name, text] : texts) set_option(options, nb::cast<std::string>(name), nb::cast<std::string>(text));
  return options;
}

nb::dict texts_of(const FitOptions& options) {
  nb::dict texts;
  for (const OptionDescription& option : fit_option_list())
    texts[option.name.c_str()] = option_text(options, option.name);
  return texts;
}

void bind_options(nb::module_& module) {
  module.def("option_list", &option_list);
  module.def("usual_threads", &usual_threads);
  module.def("point_estimate", [](const std::string& method) {
    FitOptions options;
    set_option(options, "method", method);
    return point_estimate(options.inference.method);
  });
  module.def("objective_name", [](const std::string& method) {
    FitOptions options;
    set_option(options, "method", method);
    return std::string(objective_name(options.inference.method));
  });
  module.def("check_options", [](const nb::dict& texts) {
    FitOptions options = options_of(texts);
    options.validate();
    options.inference = options.inference.resolved(options.latents);
    return texts_of(options);
  });
}

}  // namespace gsc::python
