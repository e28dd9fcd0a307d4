#pragma once
// Units in which pictures of any kind are alike, so that what is done to them does not depend on theirs: a y + b, for
// any a but 0 and any b, gives the same picture transformed.
//
//   x = (y - offset) / scale,   scale = 4/3 (q_99 - q_1) / 255,   offset = (q_1 + q_99) / 2
//
// with the quantiles of the observed values, in percent. 4/3: what is usual in pictures of 8 bits, of which it makes
// x and y as far apart as they were (house 248, monarch 257 instead of 255). Where there is a white, of 8 and 16 bits,
// scale is at most what makes it 255.

#include <gsc/picture.h>

namespace gsc {

struct PixelUnits {
  double offset = 0, scale = 1;

  double to(double pixel) const { return (pixel - offset) / scale; }
  double from(double value) const { return offset + scale * value; }
};

/// `damaged` has NaN where values are missing, which do not matter; something is observed.
PixelUnits units_of(const Picture& damaged);

/// From black to white, as 255 in ordinary pictures of 8 bits: there it is that; of others 4/3 (q_99 - q_1) less what
/// noise of so much adds to it. At least half of it is left, and it is at most the white of 16 bits.
double range_of(const Picture& noisy, double noise);

/// Channels alone, without alpha and metadata; NaN stays.
Picture to_units(const Picture& picture, const PixelUnits& units);
Picture from_units(const Picture& picture, const PixelUnits& units);

/// "512 x 384": width and height.
std::string size_text(const Picture& picture);

}  // namespace gsc
