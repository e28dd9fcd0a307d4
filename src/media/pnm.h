#pragma once

#include <gsc/picture.h>

#include "media/picture_checks.h"

namespace gsc {

/// Reads PGM and PPM, as text or binary. Done here and not by OpenCV, which scales values to the full range for some
/// of these formats and leaves them for others; here the largest value always becomes 255 or 65535.
Picture read_pnm(const PictureBytes& file);

}  // namespace gsc
