#pragma once
// What comes with the pixels: colour profile, resolution, the EXIF block of a camera.

#include <gsc/picture.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace gsc::media {

std::vector<std::byte> copy_bytes(const void* bytes, std::size_t size);
/// False instead of std::bad_alloc, for callbacks of C libraries.
bool append(std::vector<std::byte>& bytes, const void* more, std::size_t count) noexcept;

bool knows_resolution(const PictureMetadata& metadata);
/// Formats that count in dots per metre round: 2835 means 72 an inch and not 72.009.
void set_dots_per_metre(PictureMetadata& metadata, double x, double y);
std::uint32_t dots_per_metre(double dpi);

/// A profile is for grey or for red, green and blue; one of the other kind makes a file that viewers refuse.
bool profile_fits(std::span<const std::byte> icc, Index colours);

// The EXIF block of a camera. It is a small TIFF: byte order, then directories of tags. We read three things from it
// and change three; everything else stays byte for byte.

/// How the picture is to be turned, 1 to 8; 1 where the block does not say or is damaged.
int exif_orientation(std::span<const std::byte> exif);

struct DotsPerInch {
  double x = 0, y = 0;
};
std::optional<DotsPerInch> exif_resolution(std::span<const std::byte> exif);

/// Makes the block fit the picture after it was turned upright: orientation 1, width and height exchanged if it lay
/// on its side, and the preview, which shows the picture as it was, is cut loose.
void make_upright(std::vector<std::byte>& exif);

}  // namespace gsc::media
