#pragma once
// The picture that gsc inpaint works on: what is missing of it, and the truth where it is known. Beside picture files
// there are .npy arrays, which may have any number of bands.

#include <gsc/picture.h>

#include <optional>
#include <string>

#include "options/command_line.h"

namespace gsc::cli {

struct DamagedPicture {
  Picture damaged;  ///< NaN where something is missing
  std::optional<Picture> clean;
  std::string warning;  ///< what the user should know about the mask, or nothing
};

/// Throws UsageError unless it is said, in one way, what is missing, and options of experiments go together.
void check_gap_options(const CommandLine& line);

/// Throws Error if the mask or the clean picture does not fit, or values are NaN without being called missing.
DamagedPicture read_damaged(const InpaintSettings& settings);

}  // namespace gsc::cli
