#pragma once
// A picture file as bytes, and how much of what its header says is believed.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gsc::media {

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

/// Pixels that a byte of a file can hold, at most, in any ordinary picture: deflate, the densest, ends at 1032 bytes,
/// or 8256 pixels of one bit.
inline constexpr std::uint64_t kDensest = 10000;

/// Throws Error for no pixels, more than we take, or far more than so few bytes can hold. To be called before memory
/// is taken for them.
void require_plausible_size(const PictureBytes& file, std::uint64_t width, std::uint64_t height,
                            std::uint64_t pixels_a_byte = kDensest);

/// Throws Error that a file is damaged, with the words of the library that found it.
[[noreturn]] void fail_damaged(const PictureBytes& file, std::string_view words);
/// The same where bytes are missing at the end.
[[noreturn]] void fail_cut_short(const PictureBytes& file);

}  // namespace gsc::media
