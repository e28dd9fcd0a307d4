// The module gsc._core: the library's functions with arrays, dictionaries and texts. The package above it checks what
// users give, so nothing here is for them.

#include "bindings.h"

#include <gsc/cuda.h>
#include <gsc/version.h>

#include <exception>

namespace gsc::python {
namespace {

/// The classes of gsc/_errors.py.
void throw_as(const char* class_name, const char* message) {
  const nb::object type = nb::module_::import_("gsc._errors").attr(class_name);
  PyErr_SetString(type.ptr(), message);
}

void translate(const std::exception_ptr& error, void* /*unused*/) {
  try {
    std::rethrow_exception(error);
  } catch (const UsageError& usage) {
    throw_as("UsageError", usage.what());
  } catch (const Interrupted& interrupted) {
    throw_as("GscError", interrupted.what());
  } catch (const Error& wrong) {
    throw_as("DataError", wrong.what());
  }
}

void add_devices() {
#ifdef GSC_HAS_CUDA
  // Told in a thread of the library, which cannot raise it where warnings are errors.
  add_cuda_engines([](const std::string& text) {
    const nb::gil_scoped_acquire gil;
    if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) PyErr_WriteUnraisable(nullptr);
  });
#endif
}

}  // namespace
}  // namespace gsc::python

NB_MODULE(_core, module) {
  using namespace gsc::python;
  static_assert(std::string_view(GSC_VERSION) == GSC_PYTHON_VERSION, "the library is of another version");
  module.attr("version") = GSC_VERSION;
  nb::register_exception_translator(translate);
  add_devices();
  bind_options(module);
  bind_model(module);
  bind_fit(module);
  bind_infer(module);
  bind_separate(module);
  bind_denoise(module);
  bind_inpaint(module);
  bind_functions(module);
}
