#include "tasks/deviation.h"

#include <algorithm>
#include <cmath>

#include "tasks/smoothing.h"

namespace gsc {
namespace {

constexpr double kSmoothing = 2;  // pixels
constexpr double kLeast = 1e-6;   // of the noise's variance

}  // namespace

void scale_to_residual(const Picture& noisy, const NoiseLevel& noise, const Picture& denoised, Picture& std) {
  double residual = 0, posterior = 0, pixels = 0;
  for (std::size_t c = 0; c < noisy.channels.size(); ++c) {
    residual += (noisy.channels[c] - denoised.channels[c]).squaredNorm();
    posterior += std.channels[c].squaredNorm();
    pixels += static_cast<double>(noisy.channels[c].size());
  }
  const double square = residual - pixels * noise.std * noise.std * (1 + 2 * noise.error) + 2 * posterior;
  if (!(square > posterior)) return;
  const double factor = std::sqrt(std::min(square / posterior, 4.0));
  for (Matrix& channel : std.channels) channel *= factor;
}

void combine_deviations(double noise, const Picture& disagreement, Picture& std) {
  const Picture sizes = smoothed(disagreement, kSmoothing);
  const double variance = noise * noise;
  for (std::size_t c = 0; c < std.channels.size(); ++c)
    std.channels[c] = sizes.channels[c].binaryExpr(std.channels[c], [&](double of_sizes, double of_models) {
      const double v_sizes = std::max(of_sizes, kLeast * variance);
      return std::sqrt(kDeviationScale * std::cbrt(variance * v_sizes) * std::cbrt(of_models * of_models));
    });
}

}  // namespace gsc
