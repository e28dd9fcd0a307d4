#pragma once
// What gsc inpaint tells: figures, a summary, the page.

#include <gsc/inpaint.h>

#include <gsc/scores.h>

#include <optional>
#include <string>

#include "options/options.h"

namespace gsc::cli {

struct InpaintingRun {
  Picture damaged;
  std::optional<Picture> clean;
  Inpainted inpainted;
  std::optional<PictureScore> score;  ///< `noisy` is the first guess
  std::optional<double> covered;      ///< share of the missing values whose truth is within two deviations
  double seconds = 0;
};

/// "47 % of the values are missing", "12 of 1000 values are missing".
std::string missing_text(Index missing, Index values);

/// Scores and coverage where the truth is known.
void judge(InpaintingRun& run);

Json inpaint_metrics(const Settings& settings, const InpaintingRun& run);
std::string inpaint_summary(const InpaintingRun& run);
void write_report(const std::string& path, const Settings& settings, const InpaintingRun& run);

}  // namespace gsc::cli
