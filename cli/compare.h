#pragma once
// How gsc compare tells what it found out: a table, JSON, a page.

#include <optional>
#include <string>

#include "noisy_picture.h"
#include "options/options.h"
#include "tasks/compare/compare.h"

namespace gsc::cli {

/// A comparison, and on what.
struct Compared {
  Comparison comparison;
  double seconds = 0;
  std::optional<NoisyPicture> picture;  ///< none: a table
  Index data_points = 0, dimensions = 0;
};

std::string comparison_text(const Comparison& comparison);
Json comparison_json(const Settings& settings, const Compared& compared);
void write_comparison_report(const std::string& path, const Settings& settings, const Compared& compared);

}  // namespace gsc::cli
