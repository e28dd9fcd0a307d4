#include "media/metadata.h"

#include <cmath>
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

}  // namespace gsc::media
