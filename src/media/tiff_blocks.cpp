#include "media/tiff_blocks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

namespace gsc::media {
namespace {

/// Values of 1 to 16 bits, packed without gaps, the first in the highest bits; those of 8 and 16 bits are whole and in
/// our byte order.
std::uint32_t packed_value(const std::byte* row, std::size_t i, unsigned bits) {
  if (bits == 8) return std::to_integer<std::uint32_t>(row[i]);
  if (bits == 16) {
    std::uint16_t value = 0;
    std::memcpy(&value, row + 2 * i, sizeof value);
    return value;
  }
  std::uint32_t value = 0;
  for (std::size_t bit = i * bits; bit < (i + 1) * bits; ++bit)
    value = value << 1 | (std::to_integer<std::uint32_t>(row[bit / 8]) >> (7 - bit % 8) & 1);
  return value;
}

/// One row of a strip or tile to its place: `count` pixels of `inside` values.
struct RowCopier {
  const TiffLayout& layout;
  Samples& samples;
  Index plane = 0;  ///< where the values go within a pixel
  std::size_t inside = 1;

  void operator()(const std::byte* from, Index y, Index x, Index count) const {
    switch (samples.kind) {
      case SampleKind::bits8:
        return copy<std::uint8_t>(from, y, x, count);
      case SampleKind::bits16:
        return copy<std::uint16_t>(from, y, x, count);
      case SampleKind::real32:
        return copy<float>(from, y, x, count);
      case SampleKind::real64:
        return copy<double>(from, y, x, count);
    }
  }

 private:
  template <class Value>
  void copy(const std::byte* from, Index y, Index x, Index count) const {
    Value* to = reinterpret_cast<Value*>(samples.row(y)) + x * samples.channels + plane;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i, to += samples.channels)
      for (std::size_t c = 0; c < inside; ++c) to[c] = value<Value>(from, i * inside + c);
  }
  template <class Value>
  Value value(const std::byte* from, std::size_t i) const {
    if constexpr (std::is_floating_point_v<Value>) {
      Value real;
      std::memcpy(&real, from + i * sizeof real, sizeof real);
      return real;
    } else {
      const std::uint32_t packed = packed_value(from, i, layout.bits);
      if (layout.photometric == PHOTOMETRIC_PALETTE || layout.bits == 8 * sizeof(Value))
        return static_cast<Value>(packed);
      constexpr std::uint32_t kFull = std::numeric_limits<Value>::max();
      const std::uint32_t most = (1U << layout.bits) - 1;
      return static_cast<Value>((packed * kFull + most / 2) / most);
    }
  }
};

SampleKind kind_of(const TiffLayout& layout) {
  if (layout.real) return layout.bits == 32 ? SampleKind::real32 : SampleKind::real64;
  return layout.bits <= 8 ? SampleKind::bits8 : SampleKind::bits16;
}

template <class Value>
void subtract_from_white(Samples& samples) {
  auto* value = reinterpret_cast<Value*>(samples.bytes.get());
  for (Index i = 0; i < samples.width * samples.height; ++i, value += samples.channels)
    *value = static_cast<Value>(std::numeric_limits<Value>::max() - *value);  // alpha, if any, stays
}

Samples through_palette(const PictureBytes& file, const TiffFile& tiff, const TiffLayout& layout,
                        const Samples& indices) {
  std::uint16_t *red = nullptr, *green = nullptr, *blue = nullptr;
  if (TIFFGetField(tiff.get(), TIFFTAG_COLORMAP, &red, &green, &blue) != 1)
    fail_damaged(file, "its palette is missing");
  const std::uint16_t* const tables[] = {red, green, blue};
  // The standard has 16 bits a colour; old programs wrote 8.
  const std::size_t count = std::size_t{1} << layout.bits;
  bool wide = false;
  for (const std::uint16_t* table : tables)
    wide = wide || std::any_of(table, table + count, [](std::uint16_t value) { return value > 255; });
  Samples samples(indices.width, indices.height, 3, SampleKind::bits8);
  auto* to = reinterpret_cast<std::uint8_t*>(samples.bytes.get());
  const auto* index = reinterpret_cast<const std::uint8_t*>(indices.bytes.get());
  for (Index i = 0; i < samples.width * samples.height; ++i)
    for (const std::uint16_t* table : tables)
      *to++ = static_cast<std::uint8_t>(wide ? (table[index[i]] * 255U + 32767U) / 65535U : table[index[i]]);
  return samples;
}

}  // namespace

Samples read_blocks(const PictureBytes& file, TiffFile& tiff, const TiffLayout& layout) {
  TIFF* const handle = tiff.get();
  const bool tiled = TIFFIsTiled(handle) != 0;
  const std::uint32_t block_width = tiled ? tiff.tag<std::uint32_t>(TIFFTAG_TILEWIDTH, 0) : layout.width;
  const std::uint32_t block_height = tiled ? tiff.tag<std::uint32_t>(TIFFTAG_TILELENGTH, 0)
                                           : std::min(tiff.tag<std::uint32_t>(TIFFTAG_ROWSPERSTRIP, 0), layout.height);
  require_plausible_size(file, block_width, std::uint64_t{block_height} * layout.pictures());
  const unsigned planes = layout.planes ? layout.samples : 1, inside = layout.planes ? 1 : layout.samples;
  const std::uint64_t row_bytes = (std::uint64_t{block_width} * inside * layout.bits + 7) / 8;
  if (row_bytes != (tiled ? TIFFTileRowSize64(handle) : TIFFScanlineSize64(handle)))
    fail_damaged(file, "its header contradicts itself");

  Samples samples(layout.width, layout.height, layout.samples, kind_of(layout));
  samples.bands = layout.bands();
  const auto block = std::make_unique_for_overwrite<std::byte[]>(row_bytes * block_height);
  tiff.forget_words();
  RowCopier copy{layout, samples, 0, inside};
  for (unsigned plane = 0; plane < planes; ++plane)
    for (std::uint32_t y = 0; y < layout.height; y += block_height)
      for (std::uint32_t x = 0; x < layout.width; x += block_width) {
        const std::uint32_t rows = std::min(block_height, layout.height - y);
        const auto wanted = static_cast<tmsize_t>((tiled ? block_height : rows) * row_bytes);
        const auto part = static_cast<std::uint16_t>(plane);
        const tmsize_t read =
            tiled ? TIFFReadEncodedTile(handle, TIFFComputeTile(handle, x, y, 0, part), block.get(), wanted)
                  : TIFFReadEncodedStrip(handle, TIFFComputeStrip(handle, y, part), block.get(), wanted);
        // Some decoders complain and go on; the pixels are not what they should be then.
        if (tiff.words()[0] != '\0') fail_damaged(file, tiff.words());
        if (read != wanted) fail_damaged(file, "pixels are missing");
        copy.plane = plane;
        for (std::uint32_t row = 0; row < rows; ++row)
          copy(block.get() + row * row_bytes, y + row, x, std::min(block_width, layout.width - x));
      }
  if (layout.photometric == PHOTOMETRIC_PALETTE) return through_palette(file, tiff, layout, samples);
  if (layout.photometric == PHOTOMETRIC_MINISWHITE && samples.kind == SampleKind::bits8)
    subtract_from_white<std::uint8_t>(samples);
  if (layout.photometric == PHOTOMETRIC_MINISWHITE && samples.kind == SampleKind::bits16)
    subtract_from_white<std::uint16_t>(samples);
  return samples;
}

}  // namespace gsc::media
