#pragma once
// Pictures that are easy to draw and not easy to fill, for tests of inpainting.

#include <gsc/inpaint.h>

#include <cmath>
#include <limits>

namespace gsc::test {

inline const double kNan = std::numeric_limits<double>::quiet_NaN();

/// Waves that bend and an edge, so that patches have others like them but never equal ones.
inline Picture waves(Index size, int channels = 1) {
  Picture picture;
  for (int c = 0; c < channels; ++c) {
    Matrix pixels(size, size);
    for (Index y = 0; y < size; ++y)
      for (Index x = 0; x < size; ++x) {
        const auto u = static_cast<double>(x), v = static_cast<double>(y);
        const double bend = 6 * std::sin(v / 20);
        pixels(y, x) = 120 + 50 * std::sin((u + bend) / 2.2 + 0.4 * c) + (u + v > static_cast<double>(size) ? 40 : 0) +
                       10 * std::sin(u * v / 400);
      }
    picture.channels.push_back(pixels);
  }
  return picture;
}

/// A scratch and a few letters' worth of strokes.
inline Picture scratches(const Picture& whole) {
  Picture damaged = whole;
  for (Matrix& channel : damaged.channels)
    for (Index y = 0; y < channel.rows(); ++y)
      for (Index x = 0; x < channel.cols(); ++x) {
        const bool scratch = std::abs((x + y / 3) % 40 - 20) < 2, stroke = y % 30 < 3 && x % 20 < 12;
        if (scratch || stroke) channel(y, x) = kNan;
      }
  return damaged;
}

inline InpaintOptions quick() {
  InpaintOptions options;
  options.quality = Quality::fast;
  options.threads = 1;
  return options;
}

}  // namespace gsc::test
