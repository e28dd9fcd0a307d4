#pragma once
// A first guess at the missing values of a picture, good for any hole: normalised convolution at growing scales. With a
// mask m (1 where observed) and a Gaussian g of s pixels,
//
//   x = (g * (m y)) / (g * m)        where g * m is at least a little; s = 0.7, 1, 1.4, 2, ... until nothing is missing
//
// Values that a small scale has filled count as observed for all larger ones, so holes are filled from the outside in.

#include <gsc/picture.h>

namespace gsc {

/// Each channel by itself. A channel without any value, which inpaint() refuses but which may come about while values
/// are set aside, is the mean of all that is observed of the picture. Throws Error if all values of the picture are
/// missing.
Picture first_guess(const Picture& damaged);

/// How many of the values are missing (NaN).
Index missing_values(const Picture& picture);

}  // namespace gsc
