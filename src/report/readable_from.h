#pragma once

#include <optional>
#include <vector>

namespace gsc {

/// The free energy leaps in the first iterations and creeps ever after; an axis over both shows a step and a flat line.
/// If all but the lowest tenth of the values fill less than half of the range, the axis starts just below them.
std::optional<double> readable_from(const std::vector<double>& values);

}  // namespace gsc
