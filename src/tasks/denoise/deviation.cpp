#include "tasks/denoise/deviation.h"

#include <algorithm>
#include <cmath>

#include "tasks/picture/parallel_rows.h"
#include "tasks/picture/smoothing.h"

namespace gsc {
namespace {

constexpr double kSmoothing = 2;  // pixels
constexpr double kLeast = 1e-6;   // of the noise's variance

}  // namespace

void scale_to_residual(const Picture& noisy, const NoiseLevel& noise, const Picture& denoised, Picture& std,
                       int threads) {
  // A sum is made by one thread, so that threads do not change it.
  const auto channels = static_cast<Index>(noisy.channels.size());
  Vector residuals(channels), posteriors(channels);
  parallel_rows(2 * channels, noisy.height() * noisy.width(), threads, [&](Index sum) {
    const auto c = static_cast<std::size_t>(sum / 2);
    if (sum % 2 == 0)
      residuals[sum / 2] = (noisy.channels[c] - denoised.channels[c]).squaredNorm();
    else
      posteriors[sum / 2] = std.channels[c].squaredNorm();
  });
  double residual = 0, posterior = 0, pixels = 0;
  for (std::size_t c = 0; c < noisy.channels.size(); ++c) {
    residual += residuals[static_cast<Index>(c)];
    posterior += posteriors[static_cast<Index>(c)];
    pixels += static_cast<double>(noisy.channels[c].size());
  }
  const double square = residual - pixels * noise.std * noise.std * (1 + 2 * noise.error) + 2 * posterior;
  if (!(square > posterior)) return;
  const double factor = std::sqrt(std::min(square / posterior, 4.0));
  for (Matrix& channel : std.channels)
    parallel_rows(channel.rows(), channel.cols(), threads, [&](Index y) { channel.row(y) *= factor; });
}

void combine_deviations(double noise, const Picture& disagreement, Picture& std, int threads) {
  const Picture sizes = smoothed(disagreement, kSmoothing, threads);
  const double variance = noise * noise;
  const auto combined = [&](double of_sizes, double of_models) {
    const double v_sizes = std::max(of_sizes, kLeast * variance);
    return std::sqrt(kDeviationScale * std::cbrt(variance * v_sizes) * std::cbrt(of_models * of_models));
  };
  for (std::size_t c = 0; c < std.channels.size(); ++c)
    parallel_rows(std.height(), std.width(), threads, [&](Index y) {
      std.channels[c].row(y) = sizes.channels[c].row(y).binaryExpr(std.channels[c].row(y), combined);
    });
}

}  // namespace gsc
