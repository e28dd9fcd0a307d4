#include "media/picture_checks.h"

#include <zlib.h>

#include <algorithm>

#include "data/file_error.h"

namespace gsc {
namespace {

constexpr std::uint64_t kMostPixels = std::uint64_t{1} << 30;  // OpenCV's own limit

}  // namespace

void PictureBytes::require(std::uint64_t first, std::uint64_t count) const {
  if (first > size() || count > size() - first)
    fail(name, "is damaged or cut short: it has {} bytes but more are needed; get a complete copy", size());
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

PictureFormat picture_format(const PictureBytes& file) {
  if (file.size() == 0) fail(file.name, "is empty; a picture is expected");
  const std::string_view start = file.text(0, std::min<std::uint64_t>(file.size(), 8));
  const auto is = [&](std::string_view magic) { return start.starts_with(magic); };
  if (is("\x89PNG\r\n\x1a\n")) return PictureFormat::png;
  if (is("\xff\xd8\xff")) return PictureFormat::jpeg;
  using namespace std::string_view_literals;
  if (is("II*\0"sv) || is("MM\0*"sv) || is("II+\0"sv) || is("MM\0+"sv)) return PictureFormat::tiff;
  if (is("P2") || is("P3") || is("P5") || is("P6")) return PictureFormat::pnm;
  fail(file.name,
       "is not a picture this program can read (PNG, TIFF, JPEG, PGM, PPM); convert it, and take single frames of a "
       "video first");
}

void require_plausible_size(const PictureBytes& file, std::uint64_t width, std::uint64_t height) {
  if (width == 0 || height == 0) fail(file.name, "is damaged: its header says {} x {} pixels", width, height);
  if (width > kMostPixels || height > kMostPixels || width * height > kMostPixels)
    fail(file.name, "has {} x {} pixels by its header; at most {} can be read, so cut it into tiles", width, height,
         kMostPixels);
  // No ordinary picture packs more pixels into a byte (deflate, the densest, ends at 1032 bytes, or 8256 pixels of one
  // bit). Up to so many pixels it does no harm to try.
  constexpr std::uint64_t kHarmless = std::uint64_t{1} << 24, kDensest = 10000;
  if (width * height > kHarmless && width * height / kDensest > file.size())
    fail(file.name, "is damaged: its header says {} x {} pixels, which {} bytes cannot hold", width, height,
         file.size());
}

// A PNG is a list of parts: length, name, content, checksum of name and content; IHDR comes first and IEND last.
void check_png(const PictureBytes& file) {
  constexpr std::uint64_t kSignature = 8, kFrame = 12;
  std::uint64_t colour = 0;
  for (std::uint64_t at = kSignature, length = 0;; at += kFrame + length) {
    length = file.big_endian(at, 4);
    const std::string_view part = file.text(at + 4, length + 4), name = part.substr(0, 4);
    // Parts in lower case do not change the pixels; decoders ignore them if damaged, and so do we.
    const bool critical = name[0] >= 'A' && name[0] <= 'Z';
    const auto sum = ::crc32_z(0, reinterpret_cast<const unsigned char*>(part.data()), part.size());
    if (critical && sum != file.big_endian(at + 8 + length, 4))
      fail(file.name, "is damaged: the checksum of its part {} is wrong; get a fresh copy", in_quotes(name));
    if ((at == kSignature) != (name == "IHDR") || (name == "IHDR" && length != 13))
      fail(file.name, "is damaged: the header of a PNG is missing or at a wrong place");
    if (name == "IHDR") {
      require_plausible_size(file, file.big_endian(at + 8, 4), file.big_endian(at + 12, 4));
      colour = file.big_endian(at + 17, 1);
    }
    if (name == "acTL" && length >= 4 && file.big_endian(at + 8, 4) > 1)
      fail(file.name, "is an animation of {} pictures; take single frames of it first", file.big_endian(at + 8, 4));
    if (name == "tRNS" && colour == 0)  // OpenCV would forget about it
      fail(file.name, "marks one shade of grey as transparent; save it with an alpha channel or without transparency");
    if (name == "IEND") return;
  }
}

// A JPEG is a list of segments: 0xff, a marker, and mostly a length and content. The coded pixels follow the segment
// SOS; within them 0xff never comes before 0xd9 (EOI), which ends the picture. Cameras append things behind it.
void check_jpeg(const PictureBytes& file) {
  constexpr std::uint64_t kSos = 0xda, kEoi = 0xd9;
  std::uint64_t at = 2;
  for (bool size_known = false;;) {
    if (file.big_endian(at, 1) != 0xff) fail(file.name, "is damaged: byte {} should start a segment of a JPEG", at);
    while (file.big_endian(at, 1) == 0xff) ++at;
    const std::uint64_t marker = file.big_endian(at++, 1);
    if (marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7)) continue;  // these have no content
    if (marker == kEoi) fail(file.name, "is damaged: it ends before any pixel");
    const std::uint64_t length = file.big_endian(at, 2);
    file.require(at, length);
    const bool frame = marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    if (frame) {
      size_known = true;
      require_plausible_size(file, file.big_endian(at + 5, 2), file.big_endian(at + 3, 2));
      if (file.big_endian(at + 7, 1) > 3) fail(file.name, "is in CMYK colours (for print); convert it to RGB first");
    }
    at += std::max<std::uint64_t>(length, 2);
    if (marker != kSos) continue;
    if (!size_known) fail(file.name, "is damaged: pixels come before the size of the picture");
    break;
  }
  if (file.text(at, file.size() - at).find("\xff\xd9") == std::string_view::npos)
    fail(file.name, "is damaged or cut short: the end of the JPEG is missing; get a complete copy");
}

}  // namespace gsc
