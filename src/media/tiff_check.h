#pragma once

#include <optional>

#include "media/picture_checks.h"

namespace gsc {

/// Throws Error for a TIFF with several pages, with pixels missing, or of a kind that OpenCV decodes wrongly without
/// saying so. Returns where the file says (in a byte that is 2) that its alpha is not multiplied into the colours, if
/// it does.
std::optional<std::uint64_t> check_tiff(const PictureBytes& file);

}  // namespace gsc
