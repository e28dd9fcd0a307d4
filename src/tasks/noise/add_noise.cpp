#include <gsc/noise.h>

#include <algorithm>
#include <cmath>

#include "math/number_text.h"

namespace gsc {

Picture add_noise(const Picture& clean, double sigma, bool clip, std::uint64_t seed) {
  if (!(sigma >= 0) || !std::isfinite(sigma))
    throw UsageError("the noise to add is " + number_text(sigma) + "; it must be zero or positive");
  Random random(seed);
  std::normal_distribution<double> normal(0, 1);
  Picture noisy = clean;
  for (Matrix& channel : noisy.channels) {
    for (double& pixel : channel.reshaped<Eigen::RowMajor>()) {
      pixel += sigma * normal(random);
      if (clip && clean.depth != PixelDepth::real32) pixel = std::clamp(std::round(pixel), 0.0, clean.peak());
    }
  }
  return noisy;
}

}  // namespace gsc
