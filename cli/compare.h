#pragma once
// What gsc compare finds out, and how it tells: a table, JSON, a page.

#include <optional>
#include <string>
#include <vector>

#include "denoise_report.h"
#include "noisy_picture.h"
#include "options.h"
#include "tasks/learning_curve.h"

namespace gsc::cli {

/// One method at work.
struct MethodRun {
  FitOptions options;
  FitResult fit;
  LearningCurve curve;
  Race race;  ///< against the other methods

  // Of a picture only.
  Picture picture;  ///< denoised
  std::optional<double> seconds_inferring;
  std::optional<DenoisingScore> score;

  std::string name() const { return std::string(to_string(options.inference.method)); }
};

struct Comparison {
  Measure measure = Measure::free_energy;
  std::vector<MethodRun> runs;
  double seconds = 0;
  std::optional<NoisyPicture> picture;  ///< none: a table
  Index patch = 0;                      ///< pixels on a side of a basis function of a picture
  Index data_points = 0, dimensions = 0;
};

std::string comparison_text(const Comparison& comparison);
Json comparison_json(const Settings& settings, const Comparison& comparison);
void write_comparison_report(const std::string& path, const Settings& settings, const Comparison& comparison);

}  // namespace gsc::cli
