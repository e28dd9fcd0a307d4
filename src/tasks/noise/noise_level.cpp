// The level of white Gaussian noise in a picture, from the smooth parts of it.
//
//   y = x + N(0, sigma^2)       pixels: picture and noise
//   c_uv, u, v = 0..n-1         coefficients of a block of n x n pixels in the orthonormal cosine basis, ring r = u + v
//   S = sum c_uv^2, 1 < r <= n  coarse energy: tells texture from noise; planes, r = 1, say nothing of finer texture
//   c_k, r > n                  fine coefficients, K of them: what is measured
//   a_k, b_k                    mean of c_k^2 over the blocks that are smooth, and over the others
//
// The noise of all coefficients of a block is independent N(0, sigma^2), so that what S says of a block does not touch
// the noise in its c_k. Blocks whose S is no more than noise alone has with probability 0.8 are smooth, and
//
//   sigma^2 = mean_k a_k where S <= sigma^2 q, q the quantile 0.8 of chi^2: a fixed point, found from above.       (1)
//
// Some texture stays in smooth blocks. Its spectrum is taken to have the shape that it has in the others:
//
//   a_k = sigma^2 + beta (b_k - a_k), that is, a straight line over k in the plane of b_k and a_k.                 (2)
//
// Blocks chosen by low and measured at high frequencies are due to Ponomarenko et al. (IGARSS 2007; Colom and Buades,
// IPOL 2013), the fixed point to Liu, Tanaka and Okutomi (IEEE TIP 22, 2013), who choose by gradients; (2) is ours.
// The blocks that are not smooth are asked, too: spectrum_floor.h finds the noise under the spectra of all of them.
// Both are told with their errors, and the mean is weighted by these. Noise that is clipped at black and white is less
// than it was, by a factor that block means and sigma tell.

#include <gsc/noise.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "math/number_text.h"
#include "math/numeric_scope.h"
#include "tasks/noise/cosine_blocks.h"
#include "tasks/noise/spectrum_floor.h"
#include "tasks/picture/parallel_rows.h"

namespace gsc {
namespace {

constexpr double kNormalQuantile = 0.8416;  ///< of probability 0.8
constexpr double kSmallShare = 0.1;         ///< of smooth blocks: below it, many of them are so by chance
constexpr double kLargeError = 0.05;        ///< what is uncertain has at least this
constexpr Index kFewest = 40;               ///< smooth blocks that are asked for in any but the smallest pictures
constexpr double kRounding = 1e-9;          ///< of the strongest block: what arithmetic leaves where there is no noise
constexpr Index kFewestRinged = 1000;       ///< blocks: fewer say nothing of ten classes
constexpr double kUnknown = 0.5;            ///< the floor has at most this error
constexpr Index kOthers = 3;                ///< times as many blocks, the next ones by S, give b_k
constexpr double kMostLeftOver = 1;         ///< beta: a smooth block has at most half of the others' texture

/// Wilson and Hilferty's, of probability 0.8.
double chi_square_quantile(double degrees) {
  const double ninth = 2 / (9 * degrees);
  return degrees * std::pow(1 - ninth + kNormalQuantile * std::sqrt(ninth), 3);
}

/// Puts the smooth blocks first, those of (1), and says how many they are; where those are too few, the smoothest.
Index smooth_first(const CosineBlocks& blocks, std::vector<Index>& among, bool& enough) {
  const Index degrees = blocks.size * blocks.size - 3 - blocks.fine.cols();
  const auto channels = static_cast<double>(blocks.channels), count = static_cast<double>(among.size());
  const double quantile = chi_square_quantile(channels * static_cast<double>(degrees)) / channels;
  const auto smoother = [&](Index one, Index other) { return blocks.coarse[one] < blocks.coarse[other]; };
  const auto fewest = among.begin() + std::min<Index>(static_cast<Index>(kSmallShare * count), kFewest - 1);
  std::nth_element(among.begin(), fewest, among.end(), smoother);
  const double least = blocks.coarse[*fewest];

  const Vector fine = blocks.fine.rowwise().mean();
  double variance = 0, most = 0;
  for (const Index block : among) variance += fine[block] / count;
  for (int step = 0; step < 50; ++step) {
    most = std::max(least, quantile * variance);
    double sum = 0;
    Index smooth = 0;
    for (const Index block : among) {
      if (blocks.coarse[block] > most) continue;
      sum += fine[block];
      ++smooth;
    }
    const double before = std::exchange(variance, sum / static_cast<double>(smooth));
    if (std::abs(variance - before) <= 1e-6 * before) break;
  }
  enough = quantile * variance >= least;
  return std::partition(among.begin(), among.end(), [&](Index block) { return blocks.coarse[block] <= most; }) -
         among.begin();
}

struct Measured {
  double variance = 0;
  double error = 0;           ///< relative, of the standard deviation
  double share = 0;           ///< of smooth blocks among those that could be
  bool enough = true;         ///< smooth blocks
  std::vector<Index> smooth;  ///< which they are
};

/// (1) and (2)
Measured measure(const CosineBlocks& blocks, std::vector<Index> among) {
  Measured result;
  const Index all = std::ssize(among), smooth = smooth_first(blocks, among, result.enough);
  const Index end = std::min(all, (1 + kOthers) * smooth);
  if (end < all)
    std::nth_element(among.begin() + smooth, among.begin() + end, among.end(),
                     [&](Index one, Index other) { return blocks.coarse[one] < blocks.coarse[other]; });
  const auto mean_fine = [&](Index from, Index to) {
    Vector sum = Vector::Zero(blocks.fine.cols());
    for (Index i = from; i < to; ++i) sum += blocks.fine.row(among[static_cast<std::size_t>(i)]).transpose();
    return Vector(sum / static_cast<double>(std::max<Index>(to - from, 1)));
  };
  const Vector a = mean_fine(0, smooth), b = mean_fine(smooth, end);
  const double level = a.mean(), more = b.mean() - level;
  const auto count = static_cast<double>(smooth), area = blocks.area(count);
  result.variance = level;
  result.share = count / static_cast<double>(all);
  result.error = blocks.error(count);
  if (end - smooth >= kFewest && more > 0) {
    const Vector away = b.array() - b.mean();
    const double slope = away.dot(a) / away.squaredNorm();
    // The slope's variance by chance. Of one c_k, blocks in all positions tell four times what those side by side do.
    const double samples = std::min(4 * area, count * static_cast<double>(blocks.channels));
    const double chance = 2 * level * level / samples / away.squaredNorm();
    // Shrunk as by James and Stein, so that chance alone is not taken for texture.
    const double shrunk = slope > 0 ? slope * std::max(0.0, 1 - chance / (slope * slope)) : 0;
    const double beta = shrunk < 1 ? std::min(shrunk / (1 - shrunk), kMostLeftOver) : kMostLeftOver;
    result.variance = std::max(level - beta * more, level / 4);
    // What (2) takes off is trusted by half.
    if (beta > 0)
      result.error = std::hypot(result.error, std::sqrt(chance) * more / level / 2, beta * more / level / 4);
  }
  result.smooth.assign(among.begin(), among.begin() + smooth);
  return result;
}

/// Where enough is smooth the mean with the floor of all spectra, weighted by their errors; else the floor, as long as
/// it is known at all. `left`: of the noise's variance, so much is not clipped.
void join_floor(const CosineBlocks& blocks, const std::vector<Index>& among, double left, Measured& measured) {
  std::vector<bool> taken(static_cast<std::size_t>(blocks.count()), false);
  for (const Index block : among) taken[static_cast<std::size_t>(block)] = true;
  std::vector<Index> rows;
  for (Index i = 0; i < std::ssize(blocks.ringed); ++i)
    if (taken[static_cast<std::size_t>(blocks.ringed[static_cast<std::size_t>(i)])]) rows.push_back(i);
  if (std::ssize(rows) < kFewestRinged) return;
  double most = 0;
  for (const Index block : among) most = std::max(most, blocks.coarse[block]);
  if (!(measured.variance * left > kRounding * most)) return;
  const SpectrumFloor floor = spectrum_floor(blocks, rows);
  if (!(floor.error < kUnknown)) return;
  const bool smooth = measured.enough && measured.share >= kSmallShare;
  const double one = smooth ? std::pow(measured.error, -2) : 0, other = std::pow(floor.error, -2);
  const double std = (one * std::sqrt(measured.variance) + other * std::sqrt(floor.variance / left)) / (one + other);
  measured.variance = std * std;
  measured.error = 1 / std::sqrt(one + other);
}

/// Black and white, where pixels are clipped: the least and the largest value, if many pixels have them.
struct Limits {
  double black, white;
  bool at_black, at_white;
};

Limits limits_of(const Picture& picture, int threads) {
  const Index height = picture.height(), width = picture.width(), channels = std::ssize(picture.channels);
  const auto each_row = [&](const auto& body) {
    parallel_rows(height, width * channels, threads, [&](Index y) {
      for (const Matrix& channel : picture.channels) body(y, channel.row(y));
    });
  };
  Vector least = Vector::Constant(height, std::numeric_limits<double>::infinity()), most = -least;
  each_row([&](Index y, const auto& row) {
    least[y] = std::min(least[y], row.minCoeff());
    most[y] = std::max(most[y], row.maxCoeff());
  });
  Limits limits{least.minCoeff(), most.maxCoeff(), false, false};
  Eigen::Matrix<Index, Eigen::Dynamic, 2> counts = Eigen::Matrix<Index, Eigen::Dynamic, 2>::Zero(height, 2);
  each_row([&](Index y, const auto& row) {
    counts(y, 0) += (row.array() == limits.black).count();
    counts(y, 1) += (row.array() == limits.white).count();
  });
  const Index black = counts.col(0).sum(), white = counts.col(1).sum(), pixels = height * width * channels;
  const Index many = 10 + pixels / 1000;
  const bool drawing = 2 * (black + white) > pixels;  // mostly of two values: these are what is drawn
  limits.at_black = !drawing && black > many;
  limits.at_white = !drawing && white > many;
  return limits;
}

/// Of N(0, 1) clipped to -below..above.
double clipped_variance(double below, double above) {
  const auto density = [](double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); };
  const auto tail = [](double z) { return std::erfc(z / std::numbers::sqrt2) / 2; };
  const double mean = density(below) - density(above) - below * tail(below) + above * tail(above);
  const double square = 1 - tail(below) - tail(above) - below * density(below) - above * density(above) +
                        below * below * tail(below) + above * above * tail(above);
  return square - mean * mean;
}

/// Only blocks whose means are two standard deviations, or a quarter of the range, from the limits: most of their
/// noise is left, and how much is known. Nothing if there are too few.
std::optional<Measured> measure_within(const CosineBlocks& blocks, const std::vector<Index>& among,
                                       const Limits& limits, double variance) {
  constexpr double kFar = 30;  // standard deviations
  Measured result;
  std::vector<Index> within;
  double left = 1;
  for (int step = 0; step < 10; ++step) {
    const double sigma = std::sqrt(variance), margin = std::min(2 * sigma, (limits.white - limits.black) / 4);
    within.clear();
    for (const Index block : among)
      if ((!limits.at_black || blocks.means.row(block).minCoeff() > limits.black + margin) &&
          (!limits.at_white || blocks.means.row(block).maxCoeff() < limits.white - margin))
        within.push_back(block);
    if (std::ssize(within) < kFewest) return std::nullopt;
    result = measure(blocks, within);
    if (!(sigma > 0)) return result;
    left = 0;
    for (const Index block : result.smooth)
      for (const double mean : blocks.means.row(block))
        left += clipped_variance(limits.at_black ? std::min((mean - limits.black) / sigma, kFar) : kFar,
                                 limits.at_white ? std::min((limits.white - mean) / sigma, kFar) : kFar);
    left /= static_cast<double>(blocks.channels * std::ssize(result.smooth));
    result.variance /= left;
    if (std::abs(result.variance - variance) <= 1e-4 * variance) break;
    variance = result.variance;
  }
  join_floor(blocks, within, left, result);
  return result;
}

}  // namespace

NoiseLevel measure_noise(const Picture& picture, int threads) {
  const NumericScope scope;
  if (std::min(picture.height(), picture.width()) < kSmallestBlock)
    return {0, 1, true, "the picture has fewer than " + std::to_string(kSmallestBlock) + " pixels in a direction"};
  const CosineBlocks blocks = cosine_blocks(picture, threads);
  std::vector<Index> finite;  // infinite energies, and what is not a number, have no place in an order
  for (Index block = 0; block < blocks.count(); ++block)
    if (std::isfinite(blocks.coarse[block] + blocks.fine.row(block).sum())) finite.push_back(block);
  if (finite.empty()) return {0, 1, true, "pixels all over the picture are not finite, or too large"};
  Measured measured = measure(blocks, finite);
  bool clipped = false;
  if (const Limits limits = limits_of(picture, threads); limits.at_black || limits.at_white) {
    const auto within = measure_within(blocks, finite, limits, measured.variance);
    clipped = !within;
    if (within) measured = *within;
  } else {
    join_floor(blocks, finite, 1, measured);
  }
  NoiseLevel level{std::sqrt(measured.variance), measured.error, false, {}};
  double most = 0;
  for (const Index block : finite) most = std::max(most, blocks.coarse[block]);
  if (level.std < kRounding * std::sqrt(most)) level.std = 0;
  if (blocks.error(static_cast<double>(blocks.count())) > kLargeError)
    level.why = "the picture is too small";
  else if (clipped)
    level.why = "nearly all pixels are close to black or white, where noise is clipped";
  else if (measured.share < kSmallShare)
    level.why = "only " + number_text(std::round(1000 * measured.share) / 10) +
                " % of the picture is smooth, and texture looks like noise";
  else if (!measured.enough)  // the share is of those that are the least rough
    level.why = "hardly any of the picture is smooth, and texture looks like noise";
  else if (level.error > kLargeError)
    level.why = "too little of the picture is smooth, and texture looks like noise";
  level.uncertain = !level.why.empty();
  if (level.uncertain) level.error = std::max(level.error, kLargeError);
  return level;
}

double estimate_noise(const Picture& picture) { return measure_noise(picture).std; }

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
