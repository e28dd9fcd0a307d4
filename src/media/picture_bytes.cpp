#include "media/picture_bytes.h"

#include "io/file_error.h"

namespace gsc::media {
namespace {

constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 30;  // 8 GB a channel in memory

}  // namespace

void PictureBytes::require(std::uint64_t first, std::uint64_t count) const {
  if (first > size() || count > size() - first) fail_cut_short(*this);
}

std::uint64_t PictureBytes::big_endian(std::uint64_t at, int count) const {
  std::uint64_t value = 0;
  for (const char c : text(at, static_cast<std::uint64_t>(count))) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

std::uint64_t PictureBytes::little_endian(std::uint64_t at, int count) const {
  std::uint64_t value = 0;
  const std::string_view digits = text(at, static_cast<std::uint64_t>(count));
  for (auto c = digits.rbegin(); c != digits.rend(); ++c) value = value << 8 | static_cast<unsigned char>(*c);
  return value;
}

std::string_view PictureBytes::text(std::uint64_t at, std::uint64_t count) const {
  require(at, count);
  return {reinterpret_cast<const char*>(bytes.data()) + at, count};
}

void require_plausible_size(const PictureBytes& file, std::uint64_t width, std::uint64_t height,
                            std::uint64_t pixels_a_byte) {
  if (width == 0 || height == 0) fail(file.name, "is damaged: its header says {} x {} pixels", width, height);
  if (width > kMostPixels || height > kMostPixels || width * height > kMostPixels)
    fail(file.name, "has {} x {} pixels by its header; at most {} can be read, so cut it into tiles", width, height,
         kMostPixels);
  // Up to so many pixels it does no harm to try.
  constexpr std::uint64_t kHarmless = std::uint64_t{1} << 22;
  if (width * height > kHarmless && width * height / pixels_a_byte > file.size())
    fail(file.name, "is damaged: its header says {} x {} pixels, which {} bytes cannot hold", width, height,
         file.size());
}

void fail_damaged(const PictureBytes& file, std::string_view words) {
  fail(file.name, "is damaged and cannot be decoded ({}); get a fresh copy, or open it elsewhere and save it anew",
       words);
}

void fail_cut_short(const PictureBytes& file) {
  fail(file.name, "is damaged or cut short: it has {} bytes but more are needed; get a complete copy", file.size());
}

}  // namespace gsc::media
