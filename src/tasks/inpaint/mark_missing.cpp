// Pictures with missing values: where they come from.

#include <gsc/inpaint.h>

#include <cmath>
#include <limits>

#include "math/single_precision.h"

namespace gsc {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

}  // namespace

Picture with_gaps(const Picture& picture, const Picture& mask) {
  if (mask.height() != picture.height() || mask.width() != picture.width())
    throw Error("the mask has " + std::to_string(mask.width()) + " x " + std::to_string(mask.height()) +
                " pixels, but the picture has " + std::to_string(picture.width()) + " x " +
                std::to_string(picture.height()) + "; they must be equal");
  if (mask.channels.size() != 1 && mask.channels.size() != picture.channels.size())
    throw Error("the mask has " + std::to_string(mask.channels.size()) + " channels, but the picture has " +
                std::to_string(picture.channels.size()) +
                "; a mask has one, for whole pixels, or as many as the picture");
  Picture result = picture;
  for (std::size_t c = 0; c < picture.channels.size(); ++c) {
    const Matrix& missing = mask.channels[mask.channels.size() == 1 ? 0 : c];
    result.channels[c] = (missing.array() != 0).select(kMissing, picture.channels[c]);
  }
  return result;
}

Picture with_gaps(const Picture& picture, double missing) {
  const double as_float = in_single_precision(missing);
  Picture result = picture;
  for (Matrix& channel : result.channels)
    channel = (channel.array() == missing || channel.array() == as_float).select(kMissing, channel);
  return result;
}

Picture drop_values(const Picture& picture, double observed, bool whole_pixels, std::uint64_t seed) {
  Picture result = picture;
  Random random(seed);
  std::uniform_real_distribution<double> share;
  for (std::size_t c = 0; c < result.channels.size(); ++c) {
    if (whole_pixels && c > 0) {
      result.channels[c] = result.channels[0].array().isNaN().select(kMissing, result.channels[c]);
      continue;
    }
    for (Index i = 0; i < result.channels[c].size(); ++i)
      if (share(random) >= observed) result.channels[c].data()[i] = kMissing;
  }
  return result;
}

}  // namespace gsc
