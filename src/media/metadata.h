#pragma once
// What comes with the pixels: colour profile, resolution, the EXIF block of a camera.

#include <gsc/picture.h>

#include <cstddef>
#include <cstdint>
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

}  // namespace gsc::media
