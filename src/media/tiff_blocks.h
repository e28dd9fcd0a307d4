#pragma once
// The pixels of a TIFF: strips or tiles, colours together or in planes, 1 to 16 bits or real.

#include "media/picture_bytes.h"
#include "media/samples.h"
#include "media/tiff_file.h"

namespace gsc::media {

/// Most values of a pixel of an ordinary picture.
inline constexpr unsigned kPictureSamples = 4;

struct TiffLayout {
  std::uint32_t width = 0, height = 0;
  unsigned samples = 1, bits = 8, photometric = PHOTOMETRIC_MINISBLACK;
  bool real = false, planes = false;

  /// Values of pixels that are neither grey nor colours, with or without alpha.
  bool bands() const {
    return (photometric == PHOTOMETRIC_MINISBLACK && samples > 2) || (photometric == PHOTOMETRIC_RGB && samples > 4);
  }
  unsigned pictures() const { return (samples + kPictureSamples - 1) / kPictureSamples; }
  unsigned colours() const { return photometric == PHOTOMETRIC_RGB || photometric == PHOTOMETRIC_YCBCR ? 3 : 1; }
};

/// 1 to 7 bits are scaled to 8, and 9 to 15 to 16; palettes become colours; white is the largest value. Throws Error
/// where something is missing.
Samples read_blocks(const PictureBytes& file, TiffFile& tiff, const TiffLayout& layout);

}  // namespace gsc::media
