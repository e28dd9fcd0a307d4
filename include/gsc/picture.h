#pragma once
// Pictures in memory. Target gsc::tasks; gsc/picture_files.h reads and writes them.

#include <gsc/export.h>
#include <gsc/types.h>

#include <cstddef>
#include <string_view>
#include <vector>

namespace gsc {

enum class PixelDepth { bits8, bits16, real32 };
GSC_EXPORT std::string_view to_string(PixelDepth depth);

/// What a file says beside its pixels. It goes along, from the file read to the file written, and is not looked at.
struct PictureMetadata {
  std::vector<std::byte> icc;   ///< ICC colour profile, or empty
  std::vector<std::byte> exif;  ///< EXIF block (it starts with its byte order, "II" or "MM"), or empty
  double dpi_x = 0, dpi_y = 0;  ///< pixels an inch, 0 where unknown
};

/// Pixels in the units of the file: 0..255, 0..65535, or any real number.
struct GSC_EXPORT Picture {
  std::vector<Matrix> channels;  ///< 1 (grey) or 3 (red, green, blue), each height x width
  Matrix alpha;                  ///< height x width in the same units, or empty
  PixelDepth depth = PixelDepth::bits8;
  PictureMetadata metadata = {};  ///< for the file it is written to

  Index height() const { return channels.empty() ? 0 : channels[0].rows(); }
  Index width() const { return channels.empty() ? 0 : channels[0].cols(); }
  /// White: 255, 65535; 1 for real pictures, or their largest value where that is more than 1.
  double peak() const;
};

}  // namespace gsc
