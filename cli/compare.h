#pragma once
// gsc compare: methods side by side on the same data or picture, with the same options and seed.

#include <gsc/scores.h>

#include <optional>
#include <string>
#include <vector>

#include "noisy_picture.h"
#include "options/options.h"

namespace gsc::cli {

/// One method, and what it found.
struct MethodRun {
  FitOptions options;
  FitResult fit;
  std::string noise;            ///< where the noise level is from: told, measured, estimated, learned; empty: has none
  std::optional<double> amari;  ///< of a table whose basis is known, unless the learned one is singular

  // Of a picture only.
  Picture picture;  ///< denoised
  Index patch = 0;  ///< pixels on a side of a basis function
  std::optional<PictureScore> score;
  std::optional<double> seconds_inferring;

  Method method() const { return options.inference.method; }
};

struct Comparison {
  std::vector<MethodRun> runs;
  std::string measure = "free_energy";  ///< by which methods are judged; or psnr, amari
  double seconds = 0;                   ///< of everything
  std::optional<NoisyPicture> picture;  ///< none: a table
  Index data_points = 0, dimensions = 0;
};

std::string comparison_text(const Comparison& comparison);
Json comparison_json(const Settings& settings, const Comparison& comparison);
void write_comparison_report(const std::string& path, const Settings& settings, const Comparison& comparison);

}  // namespace gsc::cli
