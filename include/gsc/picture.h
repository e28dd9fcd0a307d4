#pragma once
// Pictures in memory. Target gsc::tasks; gsc/picture_files.h reads and writes them.

#include <gsc/types.h>

#include <vector>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

enum class PixelDepth { bits8, bits16, real32 };

/// Pixels in the units of the file: 0..255, 0..65535, or any real number.
struct Picture {
  std::vector<Matrix> channels;  ///< 1 (grey) or 3 (red, green, blue), each height x width
  Matrix alpha;                  ///< height x width in the same units, or empty
  PixelDepth depth = PixelDepth::bits8;

  Index height() const { return channels.empty() ? 0 : channels[0].rows(); }
  Index width() const { return channels.empty() ? 0 : channels[0].cols(); }
  /// White: 255, 65535; 1 for real pictures, or their largest value where that is more than 1.
  double peak() const;
};

#pragma GCC visibility pop
}  // namespace gsc
