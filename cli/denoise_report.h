#pragma once
// What gsc denoise tells: figures, a summary, the page.

#include <gsc/denoise.h>
#include <gsc/files.h>

#include <optional>
#include <string>

#include "options.h"

namespace gsc::cli {

/// Against the clean picture, where it is known.
struct DenoisingScore {
  double psnr_noisy = 0, psnr = 0;
  std::optional<double> ssim_noisy, ssim;  ///< none where the picture is smaller than the window of SSIM, 11 x 11
};

struct DenoisingRun {
  Picture noisy;
  std::optional<Picture> clean;
  Denoised denoised;
  std::optional<DenoisingScore> score;
  double seconds = 0;
};

DenoisingScore score_of(const Picture& clean, const Picture& noisy, const Picture& denoised);
/// "PSNR 30.12 dB, SSIM 0.871".
std::string scores_text(double psnr, const std::optional<double>& ssim);

Json denoise_metrics(const Settings& settings, const DenoisingRun& run);
std::string denoise_summary(const DenoisingRun& run);
void write_report(const std::string& path, const Settings& settings, const DenoisingRun& run);

/// Rescales the pixels from one depth to another (white stays white).
void set_depth(Picture& picture, PixelDepth depth);

}  // namespace gsc::cli
