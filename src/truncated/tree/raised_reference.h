#pragma once
// Log weights are summed against a reference; where a state is far better than that, it becomes the reference.

#include <algorithm>
#include <cmath>

namespace gsc {

/// By one step at least, or rounding could keep a huge reference where it is for ever. At infinity there is no more
/// step: the log sum becomes NaN, which fit() refuses.
inline double raised_reference(double reference, double by) {
  return std::max(reference + by, std::nextafter(reference, INFINITY));
}

}  // namespace gsc
