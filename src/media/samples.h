#pragma once
// Pixels as decoders make them and encoders take them: row after row, pixel after pixel, the values of a pixel
// together, in the machine's byte order.

#include <gsc/picture.h>

#include <cstddef>
#include <memory>

namespace gsc::media {

enum class SampleKind { bits8, bits16, real32, real64 };

struct Samples {
  Samples() = default;
  /// Takes the memory and leaves it as it is, so that pixels which a damaged file promises but does not hold cost
  /// nothing.
  Samples(Index width, Index height, Index channels, SampleKind kind);

  std::size_t value_bytes() const;
  std::size_t row_bytes() const { return static_cast<std::size_t>(width * channels) * value_bytes(); }
  std::size_t size() const { return static_cast<std::size_t>(height) * row_bytes(); }
  std::byte* row(Index y) { return bytes.get() + static_cast<std::size_t>(y) * row_bytes(); }
  const std::byte* row(Index y) const { return bytes.get() + static_cast<std::size_t>(y) * row_bytes(); }

  Index width = 0, height = 0;
  Index channels = 1;  ///< 1 grey, 2 grey and alpha, 3 red, green, blue, 4 with alpha; or any number of bands
  bool bands = false;  ///< all channels are alike, none is alpha
  SampleKind kind = SampleKind::bits8;
  std::unique_ptr<std::byte[]> bytes;
};

/// What a decoder makes of a file.
struct Decoded {
  Samples samples;
  PictureMetadata metadata;
  int orientation = 1;  ///< as EXIF and TIFF count: how the picture is to be turned; from the EXIF block unless told
};

Picture to_picture(const Samples& samples);

/// Rounds and clips to the depth. `colour`: grey becomes three equal channels.
Samples to_samples(const Picture& picture, bool colour);

}  // namespace gsc::media
