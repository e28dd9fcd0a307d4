// BMP by hand: the format is a header, a table of colours and rows of pixels, and no library of its own exists.

#include <array>
#include <cmath>
#include <limits>

#include "io/file_error.h"
#include "media/codec.h"
#include "media/metadata.h"

namespace gsc::media {
namespace {

// File header: "BM", length, two numbers nobody uses, where the pixels start. Then the picture's header, which starts
// with its own length; the oldest kind has 12 bytes and 16-bit sizes, all others start as the one of 40 bytes does.
constexpr std::uint64_t kFileHeader = 14, kOldHeader = 12, kUsualHeader = 40, kHeaderWithAlpha = 56;
constexpr std::uint64_t kPlain = 0, kMasks = 3;

struct Header {
  std::uint64_t width = 0, height = 0, bits = 0, pixels = 0;
  bool top_down = false, alpha = false;
  std::uint64_t colours = 0, colour_bytes = 4, colours_at = 0;
  double dots_x = 0, dots_y = 0;  ///< per metre

  std::uint64_t row_bytes() const { return (width * bits + 31) / 32 * 4; }  // rows fill whole words of 32 bits
};

Header read_header(const PictureBytes& file) {
  Header header;
  header.pixels = file.little_endian(10, 4);
  const std::uint64_t length = file.little_endian(14, 4), at = kFileHeader;
  header.colours_at = at + length;
  if (length == kOldHeader) {
    header.width = file.little_endian(at + 4, 2);
    header.height = file.little_endian(at + 6, 2);
    header.bits = file.little_endian(at + 10, 2);
    header.colour_bytes = 3;
  } else if (length >= kUsualHeader && length <= 1024) {
    header.width = file.little_endian(at + 4, 4);
    // Negative heights mean that the top row comes first.
    const auto height = static_cast<std::int32_t>(file.little_endian(at + 8, 4));
    header.top_down = height < 0;
    header.height = static_cast<std::uint64_t>(std::abs(static_cast<std::int64_t>(height)));
    header.bits = file.little_endian(at + 14, 2);
    header.dots_x = static_cast<std::int32_t>(file.little_endian(at + 24, 4));
    header.dots_y = static_cast<std::int32_t>(file.little_endian(at + 28, 4));
    header.colours = file.little_endian(at + 32, 4);
    const std::uint64_t packing = file.little_endian(at + 16, 4);
    if (packing == kMasks && header.bits == 32) {
      // Which bits are red, green, blue, and in long headers alpha; in short ones the masks follow the header.
      const bool usual = file.little_endian(at + 40, 4) == 0xff0000 && file.little_endian(at + 44, 4) == 0xff00 &&
                         file.little_endian(at + 48, 4) == 0xff;
      const std::uint64_t alpha = length >= kHeaderWithAlpha ? file.little_endian(at + 52, 4) : 0;
      if (!usual || (alpha != 0 && alpha != 0xff000000))
        fail(file.name, "has its colours at unusual bits; open it elsewhere and save it as PNG");
      header.alpha = alpha != 0;
    } else if (packing != kPlain) {
      fail(file.name, "is a packed BMP (kind {}), which cannot be read; save it without compression, or as PNG",
           packing);
    }
  } else {
    fail(file.name, "is damaged: the header of a BMP has {} bytes by its own words", length);
  }
  if (header.bits != 1 && header.bits != 4 && header.bits != 8 && header.bits != 24 && header.bits != 32)
    fail(file.name, "is a BMP of {} bits a pixel; those of 1, 4, 8, 24 and 32 can be read, so save it as PNG",
         header.bits);
  require_plausible_size(file, header.width, header.height, 8);
  const std::uint64_t most = header.bits <= 8 ? std::uint64_t{1} << header.bits : 0;
  if (header.colours == 0 || header.colours > most) header.colours = most;
  return header;
}

using Colour = std::array<std::uint8_t, 3>;  // red, green, blue

std::vector<Colour> read_colours(const PictureBytes& file, const Header& header) {
  std::vector<Colour> colours;
  for (std::uint64_t i = 0; i < header.colours; ++i) {
    const std::string_view bgr = file.text(header.colours_at + i * header.colour_bytes, 3);
    colours.push_back(
        {static_cast<std::uint8_t>(bgr[2]), static_cast<std::uint8_t>(bgr[1]), static_cast<std::uint8_t>(bgr[0])});
  }
  return colours;
}

void put(std::vector<std::byte>& bytes, std::uint64_t value, int count) {
  for (; count > 0; --count, value >>= 8) bytes.push_back(static_cast<std::byte>(value & 255));
}

}  // namespace

Decoded decode_bmp(const PictureBytes& file) {
  const Header header = read_header(file);
  const std::vector<Colour> colours = read_colours(file, header);
  bool grey = !colours.empty();
  for (const Colour& colour : colours) grey = grey && colour[0] == colour[1] && colour[0] == colour[2];
  file.require(header.pixels, header.height * header.row_bytes());

  Decoded decoded;
  decoded.samples = Samples(static_cast<Index>(header.width), static_cast<Index>(header.height),
                            grey           ? 1
                            : header.alpha ? 4
                                           : 3,
                            SampleKind::bits8);
  if (header.dots_x > 0 && header.dots_y > 0) set_dots_per_metre(decoded.metadata, header.dots_x, header.dots_y);
  for (std::uint64_t y = 0; y < header.height; ++y) {
    const std::uint64_t row = header.top_down ? y : header.height - 1 - y;
    const auto* from = reinterpret_cast<const std::uint8_t*>(
        file.text(header.pixels + row * header.row_bytes(), header.row_bytes()).data());
    auto* to = reinterpret_cast<std::uint8_t*>(decoded.samples.row(static_cast<Index>(y)));
    for (std::uint64_t x = 0; x < header.width; ++x) {
      if (header.bits > 8) {
        const std::uint8_t* bgr = from + x * header.bits / 8;
        *to++ = bgr[2];
        *to++ = bgr[1];
        *to++ = bgr[0];
        if (header.alpha) *to++ = bgr[3];
        continue;
      }
      // The first pixel stands in the highest bits of a byte.
      const std::uint64_t shift = 8 - header.bits - x * header.bits % 8;
      const std::size_t index = from[x * header.bits / 8] >> shift & ((1U << header.bits) - 1);
      if (index >= colours.size())
        fail(file.name, "is damaged: row {}, column {} is colour {} of {}", y, x, index, colours.size());
      for (std::size_t c = 0; c < (grey ? 1 : 3); ++c) *to++ = colours[index][c];
    }
  }
  return decoded;
}

std::vector<std::byte> encode_bmp(const Samples& samples, const PictureMetadata& metadata, const std::string& name) {
  const bool grey = samples.channels == 1;
  Header header;
  header.width = static_cast<std::uint64_t>(samples.width);
  header.height = static_cast<std::uint64_t>(samples.height);
  header.bits = grey ? 8 : 24;
  header.colours = grey ? 256 : 0;
  header.pixels = kFileHeader + kUsualHeader + 4 * header.colours;
  const std::uint64_t length = header.pixels + header.height * header.row_bytes();
  if (length > std::numeric_limits<std::uint32_t>::max())
    fail(name, "a picture of {} x {} pixels is too large for BMP; choose TIFF or PNG", samples.width, samples.height);

  std::vector<std::byte> bytes;
  bytes.reserve(length);
  for (const char c : {'B', 'M'}) bytes.push_back(static_cast<std::byte>(c));
  put(bytes, length, 4);
  put(bytes, 0, 4);
  put(bytes, header.pixels, 4);
  put(bytes, kUsualHeader, 4);
  put(bytes, header.width, 4);
  put(bytes, header.height, 4);
  put(bytes, 1, 2);  // planes
  put(bytes, header.bits, 2);
  put(bytes, kPlain, 4);
  put(bytes, length - header.pixels, 4);
  const bool known = knows_resolution(metadata);
  put(bytes, known ? dots_per_metre(metadata.dpi_x) : 0, 4);
  put(bytes, known ? dots_per_metre(metadata.dpi_y) : 0, 4);
  put(bytes, header.colours, 4);
  put(bytes, 0, 4);
  for (std::uint64_t i = 0; i < header.colours; ++i) put(bytes, i << 16 | i << 8 | i, 4);
  for (Index y = samples.height - 1; y >= 0; --y) {
    const std::byte* row = samples.row(y);
    const std::size_t start = bytes.size();
    for (Index x = 0; x < samples.width; ++x, row += samples.channels)
      for (Index c = samples.channels - 1; c >= 0; --c) bytes.push_back(row[c]);
    bytes.resize(start + header.row_bytes());
  }
  return bytes;
}

}  // namespace gsc::media
