// How good a result is.

#include <gsc/metrics.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "pictures.h"

namespace gsc::python {

void bind_functions(nb::module_& module) {
  module.def("psnr", [](const Planes& truth, const Planes& picture, double peak) {
    return psnr(picture_of(truth, ""), picture_of(picture, ""), peak);
  });
  module.def("ssim", [](const Planes& truth, const Planes& picture, double peak) {
    return ssim(picture_of(truth, ""), picture_of(picture, ""), peak);
  });
  module.def("amari_index", [](const PlainMatrix& learned, const PlainMatrix& generating) {
    return amari_index(matrix_of(learned), matrix_of(generating));
  });
}

}  // namespace gsc::python
