#pragma once
// A first guess at the missing values of a picture, good for any hole: normalised convolution at growing scales. With a
// mask m (1 where observed) and a Gaussian g of s pixels,
//
//   x = (g * (m y)) / (g * m)        where g * m is at least a little; s = 0.7, 1, 1.4, 2, ... until nothing is missing
//
// Values that a small scale has filled count as observed for the larger ones only where these must go on alone, so
// holes are filled from the outside in.

#include <gsc/picture.h>

namespace gsc {

/// Each channel by itself; where a channel has no value at all, the mean of the others at the same pixel, or of the
/// picture. Throws Error if all values of the picture are missing.
Picture first_guess(const Picture& damaged);

/// How many of the values are missing (NaN).
Index missing_values(const Picture& picture);

}  // namespace gsc
