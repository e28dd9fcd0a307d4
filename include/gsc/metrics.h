#pragma once
// How good a result is, where the truth is known. Target gsc::tasks.

#include <gsc/export.h>
#include <gsc/picture.h>

namespace gsc {

/// Peak signal-to-noise ratio in dB over all pixels and channels; infinite for equal pictures. Throws Error for
/// pictures of different size or number of channels.
GSC_EXPORT double psnr(const Picture& truth, const Picture& picture, double peak);

/// Mean structural similarity (Wang et al. 2004: 11 x 11 Gaussian window of 1.5 pixels, K1 = 0.01, K2 = 0.03), mean
/// over the channels, over windows that lie inside the picture.
GSC_EXPORT double ssim(const Picture& truth, const Picture& picture, double peak);

/// Amari index between a learned and the generating mixing matrix, both square (paper, eq. Amari): 0 if they agree up
/// to order and scale of the columns.
GSC_EXPORT double amari_index(const Matrix& learned, const Matrix& generating);

}  // namespace gsc
