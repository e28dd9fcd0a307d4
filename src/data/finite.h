#pragma once

#include <gsc/data.h>

namespace gsc {

/// Throws Error, naming row and column, if `block`, which starts at row `first` of `data`, holds NaN or infinity.
void require_finite(const Data& data, Index first, const Eigen::Ref<const Matrix>& block);

/// The same for infinity alone: NaN may stand for missing values.
void require_not_infinite(const Data& data, Index first, const Eigen::Ref<const Matrix>& block);

}  // namespace gsc
