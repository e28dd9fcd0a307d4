#pragma once
// Looks at the bytes of a picture file before a decoder does. Decoders fill what is missing with grey, believe headers
// that ask for gigabytes, and take the first of several pages without a word; here all of that is an Error.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gsc {

/// A file's bytes and what messages call it. Numbers past the end throw Error: the file is cut short.
struct PictureBytes {
  std::span<const std::byte> bytes;
  std::string name;

  std::uint64_t size() const { return bytes.size(); }
  void require(std::uint64_t first, std::uint64_t count) const;
  std::uint64_t big_endian(std::uint64_t at, int count) const;
  std::uint64_t little_endian(std::uint64_t at, int count) const;
  std::string_view text(std::uint64_t at, std::uint64_t count) const;
};

enum class PictureFormat { png, jpeg, tiff, pnm };

/// What the first bytes say, whatever the file's name; throws Error for anything else.
PictureFormat picture_format(const PictureBytes& file);

/// Throws Error for no pixels, more than decoders take, or far more than so few bytes can hold.
void require_plausible_size(const PictureBytes& file, std::uint64_t width, std::uint64_t height);

void check_png(const PictureBytes& file);
void check_jpeg(const PictureBytes& file);

}  // namespace gsc
