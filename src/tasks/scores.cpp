#include "tasks/scores.h"

#include <gsc/metrics.h>

#include <algorithm>
#include <cmath>

namespace gsc {

PictureScore score_of(const Picture& clean, const Picture& noisy, const Picture& denoised) {
  const double peak = clean.peak();
  PictureScore score{psnr(clean, noisy, peak), psnr(clean, denoised, peak), {}, {}};
  constexpr Index kSsimWindow = 11;
  if (std::min(clean.height(), clean.width()) >= kSsimWindow) {
    score.ssim_noisy = ssim(clean, noisy, peak);
    score.ssim = ssim(clean, denoised, peak);
  }
  return score;
}

SeparationScore score_of(const KnownMixture& truth, const Separation& separation) {
  SeparationScore score;
  score.matches = match_sources(truth.sources, separation.sources);
  if (separation.mixing.cols() != truth.mixing.cols()) return score;
  try {
    const double amari = amari_index(separation.mixing, truth.mixing);
    if (std::isfinite(amari)) score.amari = amari;
  } catch (const Error&) {
    // A singular matrix has no index.
  }
  return score;
}

}  // namespace gsc
