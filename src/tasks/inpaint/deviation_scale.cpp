#include "tasks/inpaint/deviation_scale.h"

#include <algorithm>
#include <cmath>

namespace gsc {
namespace {

constexpr double kCovered = 0.95;
constexpr double kUsualSpread = 0.3;         // standard deviation of ln s
constexpr double kFurthest = 3, kNoise = 1;  // of ln s and ln t from 0
constexpr double kLeast = 1e-2;              // s
constexpr double kTolerance = 1e-3;

/// Where a function of one number is least between two, if it falls and then rises.
template <class Function>
double least_at(double low, double high, const Function& of) {
  const double golden = (std::sqrt(5.0) - 1) / 2;
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double at_a = of(a), at_b = of(b);
  while (high - low > kTolerance) {
    if (at_a < at_b) {
      high = b;
      b = a, at_b = at_a;
      a = high - golden * (high - low), at_a = of(a);
    } else {
      low = a;
      a = b, at_a = at_b;
      b = low + golden * (high - low), at_b = of(b);
    }
  }
  return (low + high) / 2;
}

/// Errors and what they are judged by.
struct Errors {
  const std::vector<double>&squares, &variances;

  /// -2 log likelihood, but for a constant.
  double surprise(double scale_square, double noise_square) const {
    double sum = 0;
    for (std::size_t i = 0; i < squares.size(); ++i) {
      const double variance = scale_square * variances[i] + noise_square;
      sum += std::log(variance) + squares[i] / variance;
    }
    return sum;
  }

  /// |e| <= 2 sqrt(s^2 v + t^2 n^2)   <=>   s^2 >= (e^2 / 4 - t^2 n^2) / v
  double needed(std::size_t i, double noise_square) const {
    return std::max(0.0, squares[i] / 4 - noise_square) / variances[i];
  }

  double quantile(double noise_square) const {
    std::vector<double> all(squares.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = needed(i, noise_square);
    const auto count = static_cast<double>(all.size());
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(std::min(kCovered * count, count - 1));
    std::nth_element(all.begin(), at, all.end());
    return *at;
  }
};

double square(double x) { return x * x; }

}  // namespace

DeviationScale deviation_scale(const std::vector<double>& squares, const std::vector<double>& variances, double noise,
                               double told) {
  const Errors errors{squares, variances};
  double noise_square = 0, scale_square = 0;
  if (noise > 0) {
    const auto scale_at = [&](double t) {
      return least_at(-kFurthest, kFurthest, [&](double s) {
        return errors.surprise(std::exp(2 * s), square(noise) * std::exp(2 * t)) + square(s / kUsualSpread);
      });
    };
    const double t = least_at(-kNoise, kNoise, [&](double at) {
      const double s = scale_at(at);
      return errors.surprise(std::exp(2 * s), square(noise) * std::exp(2 * at)) + square(s / kUsualSpread) +
             square(at / told);
    });
    scale_square = std::exp(2 * scale_at(t));
    noise_square = square(noise) * std::exp(2 * t);
  }
  double mean = 0;
  for (const double variance : variances) mean += variance / static_cast<double>(variances.size());
  const double share = noise > 0 ? scale_square * mean / (scale_square * mean + noise_square) : 1;
  scale_square = (1 - square(share)) * scale_square + square(share) * errors.quantile(noise_square);
  scale_square = std::max(scale_square, square(kLeast));
  return {std::sqrt(scale_square), std::sqrt(noise_square)};
}

double coverage_across(const std::vector<double>& squares, const std::vector<double>& variances, std::size_t half,
                       double noise, double told) {
  const auto part = [half](const std::vector<double>& all, bool first) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(half);
    return first ? std::vector<double>(all.begin(), middle) : std::vector<double>(middle, all.end());
  };
  double covered = 0;
  for (const bool first : {true, false}) {
    const std::vector<double> these = part(squares, first), their = part(variances, first);
    const DeviationScale by = deviation_scale(part(squares, !first), part(variances, !first), noise, told);
    const Errors errors{these, their};
    for (std::size_t i = 0; i < these.size(); ++i)
      covered += errors.needed(i, square(by.noise)) <= square(by.scale) ? 1 : 0;
  }
  return covered / static_cast<double>(squares.size());
}

}  // namespace gsc
