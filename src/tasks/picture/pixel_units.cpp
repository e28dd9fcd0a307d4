#include "tasks/picture/pixel_units.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace gsc {
namespace {

constexpr double kWhite = 255, kLow = 0.01, kHigh = 0.99, kUsual = 4.0 / 3;
/// Of the distance of the extremes: their squares shall be numbers of single precision.
constexpr double kLeast = 1e-6;
/// Quantiles of so many values are known well enough.
constexpr std::size_t kMostValues = 1U << 20U;

struct Spread {
  std::vector<double> some;
  double least = std::numeric_limits<double>::infinity(), most = -least;

  double quantile(double share) {
    const auto at =
        some.begin() + static_cast<std::ptrdiff_t>(std::lround(share * static_cast<double>(some.size() - 1)));
    std::nth_element(some.begin(), at, some.end());
    return *at;
  }
};

Spread spread_of(const Picture& damaged) {
  Spread spread;
  const std::size_t values = damaged.channels.size() * static_cast<std::size_t>(damaged.height() * damaged.width());
  const std::size_t step = values / kMostValues + 1;
  std::size_t observed = 0;
  for (const Matrix& channel : damaged.channels)
    for (const double value : channel.reshaped()) {
      if (std::isnan(value)) continue;
      spread.least = std::min(spread.least, value);
      spread.most = std::max(spread.most, value);
      if (observed++ % step == 0) spread.some.push_back(value);
    }
  return spread;
}

template <class Change>
Picture changed(const Picture& picture, const Change& change) {
  Picture result;
  result.depth = picture.depth;
  for (const Matrix& channel : picture.channels) result.channels.push_back(channel.unaryExpr(change));
  return result;
}

}  // namespace

PixelUnits units_of(const Picture& damaged) {
  Spread spread = spread_of(damaged);
  const double low = spread.quantile(kLow), high = spread.quantile(kHigh), all = spread.most - spread.least;
  // Most of a picture may be black.
  double white = kUsual * (high > low ? high - low : all);
  if (damaged.depth != PixelDepth::real32) white = std::min(white, damaged.peak());
  white = std::max(white, kLeast * all);
  return {(low + high) / 2, white > 0 ? white / kWhite : 1};
}

double range_of(const Picture& noisy, double noise) {
  constexpr double kNoiseSpread = 4.65;  // q_99 - q_1 of a Gaussian, in deviations
  if (noisy.depth == PixelDepth::bits8) return kWhite;
  Spread spread = spread_of(noisy);
  const double seen = spread.quantile(kHigh) - spread.quantile(kLow), all = spread.most - spread.least;
  const double clean = std::sqrt(std::max(seen * seen - std::pow(kNoiseSpread * noise, 2), 0.0));
  const double white = std::max(kUsual * (seen > 0 ? std::max(clean, seen / 2) : all), kLeast * all);
  return noisy.depth == PixelDepth::bits16 ? std::min(white, noisy.peak()) : white;
}

Picture to_units(const Picture& picture, const PixelUnits& units) {
  return changed(picture, [units](double pixel) { return units.to(pixel); });
}

Picture from_units(const Picture& picture, const PixelUnits& units) {
  return changed(picture, [units](double value) { return units.from(value); });
}

std::string size_text(const Picture& picture) {
  return std::to_string(picture.width()) + " x " + std::to_string(picture.height());
}

}  // namespace gsc
