#pragma once

#include <gsc/model.h>

#include <string>

#include "options/options.h"

namespace gsc::cli {

/// The basis functions as small pictures of characters, the most often used first; darker is a larger |W|, of colours
/// the largest.
std::string basis_text(const Model& model, const Shape& shape);

}  // namespace gsc::cli
