#pragma once
// What gsc denoise tells: figures, a summary, the page.

#include <gsc/denoise.h>
#include <gsc/files.h>
#include <gsc/scores.h>

#include <optional>
#include <string>

#include "options/options.h"

namespace gsc::cli {

struct DenoisingRun {
  Picture noisy;
  std::optional<Picture> clean;
  Denoised denoised;
  std::optional<PictureScore> score;
  double seconds = 0;
};

/// How far it is after `seconds` of work, and what is being done.
std::string progress_text(const Progress& now, Method method, double seconds);

/// "PSNR 30.12 dB, SSIM 0.871".
std::string scores_text(double psnr, const std::optional<double>& ssim);

Json denoise_metrics(const Settings& settings, const DenoisingRun& run);
std::string denoise_summary(const DenoisingRun& run);
void write_report(const std::string& path, const Settings& settings, const DenoisingRun& run);

/// Rescales the pixels from one depth to another (white stays white).
void set_depth(Picture& picture, PixelDepth depth);

}  // namespace gsc::cli
