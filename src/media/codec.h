#pragma once
// The picture formats: one table, from which readers, writers, messages and help take what they need. Each format has
// a file of its own; how to add one is in docs/HACKING.md.

#include <string>
#include <string_view>
#include <vector>

#include "media/picture_bytes.h"
#include "media/samples.h"

namespace gsc::media {

struct Codec {
  std::string name;                     ///< "TIFF"
  std::vector<std::string> extensions;  ///< ".tif", ".tiff"
  bool (*recognises)(std::string_view start);
  Decoded (*decode)(const PictureBytes& file);
  /// The bytes of a file; throws Error that starts with `name`.
  std::vector<std::byte> (*encode)(const Samples& samples, const PictureMetadata& metadata, const std::string& name);

  // What files of this kind can hold, beside 8-bit grey.
  bool colour = true;  ///< three channels
  bool grey = true;    ///< if not, grey goes in as three equal channels
  bool alpha = false;
  bool bits16 = false;
  bool real = false;
  bool bands = false;  ///< four channels and more
  Index largest_side = 1 << 30;
};

const std::vector<Codec>& codecs();

Decoded decode_png(const PictureBytes& file);
Decoded decode_jpeg(const PictureBytes& file);
Decoded decode_tiff(const PictureBytes& file);
Decoded decode_webp(const PictureBytes& file);
Decoded decode_bmp(const PictureBytes& file);
Decoded decode_pnm(const PictureBytes& file);

std::vector<std::byte> encode_png(const Samples& samples, const PictureMetadata& metadata, const std::string& name);
std::vector<std::byte> encode_jpeg(const Samples& samples, const PictureMetadata& metadata, const std::string& name);
std::vector<std::byte> encode_tiff(const Samples& samples, const PictureMetadata& metadata, const std::string& name);
std::vector<std::byte> encode_webp(const Samples& samples, const PictureMetadata& metadata, const std::string& name);
std::vector<std::byte> encode_bmp(const Samples& samples, const PictureMetadata& metadata, const std::string& name);
std::vector<std::byte> encode_pnm(const Samples& samples, const PictureMetadata& metadata, const std::string& name);

}  // namespace gsc::media
