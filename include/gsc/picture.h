#pragma once
// Pictures in memory and in files. Target gsc::tasks.

#include <gsc/types.h>

#include <filesystem>
#include <vector>

namespace gsc {

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

/// Reads PNG, TIFF, JPEG, PGM, PPM. Throws Error naming the file and what is wrong (missing, corrupt, a video, ...).
Picture read_picture(const std::filesystem::path& path);

/// Writes by extension, rounding and clipping to the depth; atomically. real32 needs TIFF. Throws Error.
void write_picture(const std::filesystem::path& path, const Picture& picture);

}  // namespace gsc
