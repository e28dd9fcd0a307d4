#pragma once
// The EXIF block of a camera. It is a small TIFF: byte order, then directories of tags. We read three things from it
// and change three; everything else stays byte for byte.

#include <gsc/picture.h>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gsc::media {

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
