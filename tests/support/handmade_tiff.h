#pragma once
// TIFF files by hand, of kinds that our own writer never makes.

#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace gsc::test {

inline std::string little_endian(std::uint64_t value, int count) {
  std::string text;
  for (; count > 0; --count, value >>= 8) text += static_cast<char>(value & 255);
  return text;
}

inline std::string big_endian(std::uint64_t value, int count) {
  std::string text = little_endian(value, count);
  return {text.rbegin(), text.rend()};
}

template <class Value>
std::string raw(std::initializer_list<Value> values) {
  return {reinterpret_cast<const char*>(std::data(values)), values.size() * sizeof(Value)};
}

/// Uncompressed and little-endian: one directory a page, lists that do not fit into it, then the pixels of all pages.
struct HandmadeTiff {
  unsigned width = 2, height = 1, samples = 1, bits = 8, format = 1, photometric = 1, planes = 1, pages = 1;
  int extra = -1, orientation = 1, compression = 1;
  unsigned tile = 0;                   ///< tiles of so many pixels a side instead of strips
  std::vector<unsigned> colours = {};  ///< palette: all reds, all greens, all blues
  std::vector<std::string> pieces;     ///< strips, one of all rows a plane, or tiles

  std::string bytes() const {
    const auto count = static_cast<unsigned>(pieces.size());
    const unsigned tags = 12 + (extra >= 0 ? 1 : 0) + (tile > 0 ? 1 : 0) + (colours.empty() ? 0 : 1);
    const unsigned directory = 2 + 12 * tags + 4, first = 8, lists = first + pages * directory;
    // Lists: bits and formats of at least four samples, offsets and lengths of the pieces, the palette.
    const unsigned listed = samples > 4 ? samples : 4;
    const unsigned offsets_at = lists + 4 * listed, lengths_at = offsets_at + 4 * count,
                   colours_at = lengths_at + 4 * count, data = colours_at + 2 * static_cast<unsigned>(colours.size());
    std::string offsets, lengths, all;
    for (const std::string& piece : pieces) {
      offsets += little_endian(data + all.size(), 4);
      lengths += little_endian(piece.size(), 4);
      all += piece;
    }
    std::string file = "II*" + std::string(1, '\0') + little_endian(first, 4);
    for (unsigned page = 0; page < pages; ++page) {
      const auto tag = [&](unsigned code, unsigned type, unsigned number, unsigned value) {
        file += little_endian(code, 2) + little_endian(type, 2) + little_endian(number, 4) + little_endian(value, 4);
      };
      const auto each_sample = [&](unsigned code, unsigned value, unsigned at) {
        const bool inside = samples <= 2;
        tag(code, 3, samples, inside ? value | (samples == 2 ? value << 16 : 0) : at);
      };
      const auto each_piece = [&](unsigned code, unsigned at, const std::string& list) {
        if (count > 1) return tag(code, 4, count, at);
        file += little_endian(code, 2) + little_endian(4, 2) + little_endian(1, 4) + list;
      };
      file += little_endian(tags, 2);
      tag(256, 4, 1, width);
      tag(257, 4, 1, height);
      each_sample(258, bits, lists);
      tag(259, 3, 1, static_cast<unsigned>(compression));
      tag(262, 3, 1, photometric);
      if (tile == 0) each_piece(273, offsets_at, offsets);
      tag(274, 3, 1, static_cast<unsigned>(orientation));
      tag(277, 3, 1, samples);
      if (tile == 0) tag(278, 4, 1, height);
      if (tile == 0) each_piece(279, lengths_at, lengths);
      tag(284, 3, 1, planes);
      if (!colours.empty()) tag(320, 3, static_cast<unsigned>(colours.size()), colours_at);
      if (tile > 0) tag(322, 4, 1, tile);
      if (tile > 0) tag(323, 4, 1, tile);
      if (tile > 0) each_piece(324, offsets_at, offsets);
      if (tile > 0) each_piece(325, lengths_at, lengths);
      if (extra >= 0) tag(338, 3, 1, static_cast<unsigned>(extra));
      each_sample(339, format, lists + 2 * listed);
      file += little_endian(page + 1 < pages ? first + (page + 1) * directory : 0, 4);
    }
    for (unsigned i = 0; i < listed; ++i) file += little_endian(bits, 2);
    for (unsigned i = 0; i < listed; ++i) file += little_endian(format, 2);
    file += offsets + lengths;
    for (const unsigned colour : colours) file += little_endian(colour, 2);
    return file + all;
  }
};

}  // namespace gsc::test
