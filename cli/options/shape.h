#pragma once
// How the values of a data point lie: "8x8", or "8x8x3" for pixels of three channels.

#include <string>

#include "options/options.h"

namespace gsc::cli {

std::string to_string(const Shape& shape);

/// Throws UsageError if a shape that was given has not as many values as there are `dimensions`, those of `of_what`.
void check_shape(const std::string& name, const Shape& shape, Index dimensions, const std::string& of_what);

/// What basis functions are drawn as: what --show-basis says, else the shape of the data points, else (rows 0) whatever
/// suits the dimensions.
Shape drawn_shape(const Shape& show_basis, const Shape& of_data);

}  // namespace gsc::cli
