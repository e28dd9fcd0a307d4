#pragma once
// How near a result is to the truth, where that is known: all figures of a picture or of separated sources together.
// Target gsc::tasks.

#include <gsc/export.h>
#include <gsc/picture.h>
#include <gsc/separate.h>

#include <optional>
#include <vector>

namespace gsc {

struct PictureScore {
  double psnr_noisy = 0, psnr = 0;
  std::optional<double> ssim_noisy, ssim;  ///< none where the picture is smaller than the window of SSIM, 11 x 11
};
GSC_EXPORT PictureScore score_of(const Picture& clean, const Picture& noisy, const Picture& denoised);

/// Known sources that are mixed here, so that what separation finds can be held against them.
struct KnownMixture {
  Matrix sources;  ///< sources x samples
  Matrix mixing;   ///< channels x sources, square
  Matrix mixture;  ///< channels x samples: mixing sources + noise
};
/// `perturbation`: how far the mixing matrix is from orthogonal, as the standard deviation of what is added to every
/// entry.
GSC_EXPORT KnownMixture mix(Matrix sources, double perturbation, double noise_std, std::uint64_t seed);

/// Which learned source is a true one. Learning knows neither their order nor their sign.
struct SourceMatch {
  Index found = -1;        ///< row of the learned sources, -1 where there are too few
  double correlation = 0;  ///< absolute value; 0 for a source without variance
};
/// For each row of `truth` a row of `found`, each used once, so that the absolute correlations add up to the most.
GSC_EXPORT std::vector<SourceMatch> match_sources(const Matrix& truth, const Matrix& found);

struct SeparationScore {
  std::optional<double> amari;  ///< none unless the learned mixing matrix is square and regular
  std::vector<SourceMatch> matches;
};
GSC_EXPORT SeparationScore score_of(const KnownMixture& truth, const Separation& separation);

}  // namespace gsc
