#include <gsc/scores.h>

#include <gsc/generate.h>
#include <gsc/metrics.h>

#include <algorithm>
#include <cmath>

#include "model/random_draws.h"

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

KnownMixture mix(Matrix sources, double perturbation, double noise_std, std::uint64_t seed) {
  Random random(seed);
  KnownMixture known;
  known.sources = std::move(sources);
  known.mixing = mixing_matrix(known.sources.rows(), perturbation, random);
  known.mixture = known.mixing * known.sources;
  if (noise_std > 0) known.mixture += noise_std * standard_normal(known.mixture.rows(), known.mixture.cols(), random);
  return known;
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
