#pragma once

#include <gsc/model.h>

#include <string>

namespace gsc::cli {

/// Rows and columns of "5x5"; throws UsageError unless it has as many pixels as the model has dimensions.
std::pair<Index, Index> parse_shape(const std::string& text, Index dimensions);

/// The basis functions as small pictures of characters, the most often used first; darker is a larger |W|.
std::string basis_text(const Model& model, Index rows, Index cols);

}  // namespace gsc::cli
