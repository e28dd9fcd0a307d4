#pragma once
// How near a result is to the truth, where that is known: all figures of a picture or of separated sources together.

#include <gsc/picture.h>
#include <gsc/separate.h>

#include <optional>
#include <vector>

#include "tasks/separate/mixing.h"
#include "tasks/separate/source_matching.h"

namespace gsc {

struct PictureScore {
  double psnr_noisy = 0, psnr = 0;
  std::optional<double> ssim_noisy, ssim;  ///< none where the picture is smaller than the window of SSIM, 11 x 11
};
PictureScore score_of(const Picture& clean, const Picture& noisy, const Picture& denoised);

struct SeparationScore {
  std::optional<double> amari;  ///< none unless the learned mixing matrix is square and regular
  std::vector<SourceMatch> matches;
};
SeparationScore score_of(const KnownMixture& truth, const Separation& separation);

}  // namespace gsc
