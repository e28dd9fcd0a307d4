#include "options/shape.h"

#include <fmt/format.h>

namespace gsc::cli {

std::string to_string(const Shape& shape) {
  return shape.channels == 1 ? fmt::format("{}x{}", shape.rows, shape.cols)
                             : fmt::format("{}x{}x{}", shape.rows, shape.cols, shape.channels);
}

void check_shape(const std::string& name, const Shape& shape, Index dimensions, const std::string& of_what) {
  if (shape.rows == 0) return;
  const bool divides = dimensions % shape.channels == 0;
  if (!divides || shape.rows * shape.cols != dimensions / shape.channels)
    throw UsageError(fmt::format("{} is {}, but {} has {} dimensions; the product must be that", name, to_string(shape),
                                 of_what, dimensions));
}

Shape drawn_shape(const Shape& show_basis, const Shape& of_data) { return show_basis.rows > 0 ? show_basis : of_data; }

}  // namespace gsc::cli
