#pragma once
// Masks that are pictures, as drawing programs and cameras of the field leave them: in one channel or in three equal
// ones, with transparency, as JPEG. gsc/inpaint.h takes any value but 0 for missing; here is what comes before.

#include <gsc/picture.h>

#include <string>

namespace gsc::cli {

struct PictureMask {
  Picture picture;      ///< anything but 0 is missing
  std::string warning;  ///< what the user should know, or nothing
};

/// The mask in a file, `inverted` if black is missing. What is transparent is black; colours that are equal everywhere
/// are one channel; in a JPEG file, whose black is never quite black, what is darker than a quarter of white is black.
PictureMask read_mask(const std::string& file, bool inverted);

}  // namespace gsc::cli
