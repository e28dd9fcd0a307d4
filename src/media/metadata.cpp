#include "media/metadata.h"

#include <cmath>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string_view>

namespace gsc::media {
namespace {

constexpr double kMetresAnInch = 0.0254;

double dots_per_inch(double per_metre) {
  const double dpi = per_metre * kMetresAnInch, whole = std::round(dpi);
  return std::abs(dpi - whole) <= kMetresAnInch / 2 ? whole : dpi;
}

}  // namespace

std::vector<std::byte> copy_bytes(const void* bytes, std::size_t size) {
  const auto* first = static_cast<const std::byte*>(bytes);
  return {first, first + size};
}

bool append(std::vector<std::byte>& bytes, const void* more, std::size_t count) noexcept try {
  const auto* first = static_cast<const std::byte*>(more);
  bytes.insert(bytes.end(), first, first + count);
  return true;
} catch (const std::bad_alloc&) {
  return false;
} catch (const std::length_error&) {
  return false;
}

bool knows_resolution(const PictureMetadata& metadata) {
  const auto usual = [](double dpi) { return dpi > 0 && dpi < 1e7; };  // so that it fits all formats' numbers
  return usual(metadata.dpi_x) && usual(metadata.dpi_y);
}

void set_dots_per_metre(PictureMetadata& metadata, double x, double y) {
  metadata.dpi_x = dots_per_inch(x);
  metadata.dpi_y = dots_per_inch(y);
}

std::uint32_t dots_per_metre(double dpi) { return static_cast<std::uint32_t>(std::lround(dpi / kMetresAnInch)); }

bool profile_fits(std::span<const std::byte> icc, Index colours) {
  constexpr std::size_t kHeader = 128, kColourSpace = 16;
  if (icc.size() < kHeader) return false;
  const std::string_view space(reinterpret_cast<const char*>(icc.data()) + kColourSpace, 4);
  return space == (colours == 1 ? "GRAY" : "RGB ");
}

namespace {

enum Tag : std::uint32_t {
  kOrientation = 0x112,
  kXResolution = 0x11a,
  kYResolution = 0x11b,
  kResolutionUnit = 0x128,
  kExifDirectory = 0x8769,
  kPixelWidth = 0xa002,
  kPixelHeight = 0xa003,
};
constexpr std::uint32_t kShort = 3, kLong = 4, kRational = 5;

/// Numbers in a block; those outside it are 0, which no offset and no value of ours is.
template <class Byte>
class Block {
 public:
  explicit Block(std::span<Byte> bytes) : bytes_(bytes), big_endian_(!bytes.empty() && bytes[0] == std::byte{'M'}) {}

  std::uint32_t number(std::size_t at, int count) const {
    if (at > bytes_.size() || bytes_.size() - at < static_cast<std::size_t>(count)) return 0;
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i)
      value = value << 8 | std::to_integer<std::uint32_t>(bytes_[at + static_cast<std::size_t>(digit(i, count))]);
    return value;
  }
  void set(std::size_t at, int count, std::uint32_t value) const {
    if (at > bytes_.size() || bytes_.size() - at < static_cast<std::size_t>(count)) return;
    for (int i = count - 1; i >= 0; --i, value >>= 8)
      bytes_[at + static_cast<std::size_t>(digit(i, count))] = static_cast<std::byte>(value & 255);
  }

  bool good() const {
    return number(2, 2) == 42 && (bytes_[0] == std::byte{'M'} || bytes_[0] == std::byte{'I'}) && bytes_[1] == bytes_[0];
  }
  std::size_t first_directory() const { return number(4, 4); }

  /// Where the entry of a tag stands (tag, type, count, value or where it is), 0 if it is not there.
  std::size_t entry(std::size_t directory, Tag tag) const {
    if (directory == 0) return 0;
    const std::uint32_t count = number(directory, 2);
    for (std::size_t at = directory + 2; at < directory + 2 + 12 * std::size_t{count}; at += 12)
      if (number(at, 2) == tag) return at;
    return 0;
  }
  /// Of one whole number of 2 or 4 bytes; 0 if it is none.
  std::uint32_t value(std::size_t entry) const {
    const int bytes = value_bytes(entry);
    return bytes == 0 ? 0 : number(entry + 8, bytes);
  }
  void set_value(std::size_t entry, std::uint32_t value) const {
    if (const int bytes = value_bytes(entry); bytes != 0) set(entry + 8, bytes, value);
  }
  int value_bytes(std::size_t entry) const {
    if (entry == 0 || number(entry + 4, 4) != 1) return 0;
    const std::uint32_t type = number(entry + 2, 2);
    return type == kShort ? 2 : type == kLong ? 4 : 0;
  }
  double fraction(std::size_t entry) const {
    if (entry == 0 || number(entry + 2, 2) != kRational) return 0;
    const std::size_t at = number(entry + 8, 4);
    const double below = number(at + 4, 4);
    return below > 0 ? number(at, 4) / below : 0;
  }

 private:
  int digit(int i, int count) const { return big_endian_ ? i : count - 1 - i; }

  std::span<Byte> bytes_;
  bool big_endian_;
};

}  // namespace

int exif_orientation(std::span<const std::byte> exif) {
  const Block block(exif);
  if (!block.good()) return 1;
  const std::uint32_t value = block.value(block.entry(block.first_directory(), kOrientation));
  return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
}

std::optional<DotsPerInch> exif_resolution(std::span<const std::byte> exif) {
  const Block block(exif);
  if (!block.good()) return {};
  const std::size_t directory = block.first_directory();
  constexpr std::uint32_t kNone = 1, kCentimetres = 3;
  const std::uint32_t unit = block.value(block.entry(directory, kResolutionUnit));  // left out: inches
  const double scale = unit == kCentimetres ? 2.54 : 1;
  const double x = block.fraction(block.entry(directory, kXResolution)),
               y = block.fraction(block.entry(directory, kYResolution));
  if (unit == kNone || !(x > 0) || !(y > 0)) return {};
  return DotsPerInch{scale * x, scale * y};
}

void make_upright(std::vector<std::byte>& exif) {
  const Block block{std::span(exif)};
  if (!block.good()) return;
  const std::size_t directory = block.first_directory();
  const bool on_its_side = exif_orientation(exif) >= 5;
  block.set_value(block.entry(directory, kOrientation), 1);
  // What follows the entries is where the next directory stands, that of the preview.
  block.set(directory + 2 + 12 * std::size_t{block.number(directory, 2)}, 4, 0);
  if (!on_its_side) return;
  const std::size_t inner = block.value(block.entry(directory, kExifDirectory));
  const std::size_t width = block.entry(inner, kPixelWidth), height = block.entry(inner, kPixelHeight);
  const std::uint32_t w = block.value(width), h = block.value(height);
  if (w == 0 || h == 0 || block.value_bytes(width) != block.value_bytes(height)) return;
  block.set_value(width, h);
  block.set_value(height, w);
}

}  // namespace gsc::media
