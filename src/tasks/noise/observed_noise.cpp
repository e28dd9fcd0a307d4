#include "tasks/noise/observed_noise.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace gsc {
namespace {

constexpr int kCoefficients = 6;
constexpr double kWanted = 48;                 // values in a window
constexpr Index kSmallest = 8, kLargest = 24;  // pixels a side
constexpr double kQuantile = 0.15, kNormalQuantile = -1.0364333894937898;
constexpr std::size_t kFewest = 12;  // windows

/// The kQuantile-th quantile of chi^2_n / n (Wilson and Hilferty 1931).
double chi_square_share(double n) { return std::pow(1 - 2 / (9 * n) + kNormalQuantile * std::sqrt(2 / (9 * n)), 3); }

/// Residual variance of a window of one channel, in units of what chi^2 expects of its quantile; negative if it does
/// not count: too few values, or many at the end of the range, where noise is cut off.
double window_variance(const Matrix& channel, Index row, Index col, Index side, double black, double white) {
  Eigen::Matrix<double, Eigen::Dynamic, kCoefficients> A(side * side, kCoefficients);
  Eigen::VectorXd y(side * side);
  Index n = 0, cut = 0;
  for (Index r = 0; r < side; ++r)
    for (Index c = 0; c < side; ++c) {
      const double value = channel(row + r, col + c);
      if (std::isnan(value)) continue;
      if (value <= black || value >= white) ++cut;
      const double u = 2 * static_cast<double>(r) / static_cast<double>(side - 1) - 1;
      const double v = 2 * static_cast<double>(c) / static_cast<double>(side - 1) - 1;
      A.row(n) << 1, u, v, u * u, u * v, v * v;
      y[n++] = value;
    }
  if (n < 3 * kCoefficients || 10 * cut > n) return -1;
  const auto rows = A.topRows(n);
  const Eigen::Matrix<double, kCoefficients, kCoefficients> normal =
      rows.transpose() * rows + 1e-9 * Eigen::Matrix<double, kCoefficients, kCoefficients>::Identity();
  const Eigen::Matrix<double, kCoefficients, 1> fitted = normal.ldlt().solve(rows.transpose() * y.head(n));
  const auto freedom = static_cast<double>(n - kCoefficients);
  return (y.head(n) - rows * fitted).squaredNorm() / freedom / chi_square_share(freedom);
}

}  // namespace

NoiseLevel measure_observed_noise(const Picture& damaged) {
  const double white = damaged.depth == PixelDepth::bits8    ? 255
                       : damaged.depth == PixelDepth::bits16 ? 65535
                                                             : std::numeric_limits<double>::infinity();
  const double black = damaged.depth == PixelDepth::real32 ? -white : 0;
  std::vector<double> variances;
  for (const Matrix& channel : damaged.channels) {
    const auto observed = static_cast<double>(channel.size() - channel.array().isNaN().count());
    if (observed == 0) continue;
    const double share = observed / static_cast<double>(channel.size());
    const Index smaller = std::min(channel.rows(), channel.cols());
    const Index side =
        std::min(smaller, std::clamp(static_cast<Index>(std::sqrt(kWanted / share)), kSmallest, kLargest));
    if (side < 3) continue;
    for (Index row = 0; row + side <= channel.rows(); row += side / 2)
      for (Index col = 0; col + side <= channel.cols(); col += side / 2)
        if (const double v = window_variance(channel, row, col, side, black, white); v >= 0) variances.push_back(v);
  }
  NoiseLevel level;
  if (variances.size() < kFewest) {
    level.uncertain = true;
    level.why = "too little is observed";
    return level;
  }
  const auto at = variances.begin() + static_cast<std::ptrdiff_t>(kQuantile * static_cast<double>(variances.size()));
  std::nth_element(variances.begin(), at, variances.end());
  level.std = std::sqrt(*at);
  level.error = 1 / std::sqrt(2 * kQuantile * static_cast<double>(variances.size()));
  return level;
}

}  // namespace gsc
