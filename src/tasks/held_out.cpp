#include "tasks/held_out.h"

#include <algorithm>
#include <cmath>

#include "tasks/deep_holes.h"
#include "tasks/deviation_scale.h"

namespace gsc {
namespace {

/// A twentieth of what is observed, of small pictures up to a tenth: of 1500 errors the quantile is known to half a
/// percent, and what is set aside is missing for a while (0.1 to 0.2 dB, if it is a tenth).
constexpr double kShare = 0.05, kMostShare = 0.1;
constexpr std::size_t kEnough = 1500, kMost = 4000, kFewest = 40;
/// Of errors, in units of which white has 255: what single precision leaves.
constexpr double kLeastVariance = 1e-12 * 255 * 255;
/// Relative, of noise that somebody tells.
constexpr double kNoiseError = 0.03;
/// Half sides of windows, and how far from their edges values are for judging.
constexpr Index kLeastReach = 5, kUsualReach = 8, kMostReach = 32, kWindowEdge = 4;
/// Of holes deeper than the usual window: so many times the values, on so many-th of the picture at most.
constexpr std::size_t kMoreOfDeepHoles = 3;
constexpr Index kMostCovered = 4;

struct Place {
  Index row, col;
};

/// Pixels of which every channel is observed, summed up over all above and to the left: whole windows are found by four
/// of them.
Table<std::int32_t> whole_sums(const Picture& damaged) {
  Table<std::int32_t> sums = Table<std::int32_t>::Zero(damaged.height() + 1, damaged.width() + 1);
  for (Index r = 0; r < damaged.height(); ++r)
    for (Index c = 0; c < damaged.width(); ++c) {
      const bool whole = std::none_of(damaged.channels.begin(), damaged.channels.end(),
                                      [&](const Matrix& channel) { return std::isnan(channel(r, c)); });
      sums(r + 1, c + 1) = (whole ? 1 : 0) + sums(r, c + 1) + sums(r + 1, c) - sums(r, c);
    }
  return sums;
}

/// Centres of windows in which nothing is missing.
std::vector<Place> whole_windows(const Picture& damaged, Index reach) {
  const Table<std::int32_t> sums = whole_sums(damaged);
  const Index side = 2 * reach + 1;
  std::vector<Place> centres;
  for (Index r = 0; r + side <= damaged.height(); ++r)
    for (Index c = 0; c + side <= damaged.width(); ++c)
      if (sums(r + side, c + side) - sums(r, c + side) - sums(r + side, c) + sums(r, c) == side * side)
        centres.push_back({r + reach, c + reach});
  return centres;
}

/// Pixels at which something is missing and around which there is a whole window of picture.
std::vector<Place> damaged_places(const Picture& damaged, Index reach) {
  std::vector<Place> places;
  for (Index r = reach; r + reach < damaged.height(); ++r)
    for (Index c = reach; c + reach < damaged.width(); ++c)
      if (std::any_of(damaged.channels.begin(), damaged.channels.end(),
                      [&](const Matrix& channel) { return std::isnan(channel(r, c)); }))
        places.push_back({r, c});
  return places;
}

/// Lays windows of the mask over whole parts, until there are `wanted` values or a quarter of the picture is covered.
/// What is near the windows' edges is missing, too, but easier than it was, so it is not for judging.
void set_holes_aside(Picture& damaged, Index reach, const std::vector<Place>& holes, std::vector<Place> centres,
                     std::size_t wanted, Random& random, HeldOutSet& set) {
  const Picture mask = damaged;
  const Index side = 2 * reach + 1, centre = reach - std::min(kWindowEdge, reach / 2);
  Index room = damaged.height() * damaged.width() / kMostCovered;
  Table<std::uint8_t> taken = Table<std::uint8_t>::Zero(damaged.height(), damaged.width());
  std::shuffle(centres.begin(), centres.end(), random);
  for (const Place& to : centres) {
    if (set.values.size() >= wanted || (room < 0 && !set.values.empty())) return;
    if (taken.block(to.row - reach, to.col - reach, side, side).any()) continue;
    taken.block(to.row - reach, to.col - reach, side, side).setOnes();
    if (reach > kUsualReach) room -= side * side;
    const Place& from = holes[std::uniform_int_distribution<std::size_t>(0, holes.size() - 1)(random)];
    for (std::size_t k = 0; k < damaged.channels.size(); ++k)
      for (Index r = -reach; r <= reach; ++r)
        for (Index c = -reach; c <= reach; ++c) {
          if (!std::isnan(mask.channels[k](from.row + r, from.col + c))) continue;
          double& value = damaged.channels[k](to.row + r, to.col + c);
          if (std::max(std::abs(r), std::abs(c)) <= centre)
            set.values.push_back({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(to.row + r),
                                  static_cast<std::uint32_t>(to.col + c), value});
          value = std::nan("");
        }
  }
}

/// Whether no value that is missing has a missing neighbour.
bool only_single_values(const Picture& damaged) {
  const auto pair = [](const auto& here, const auto& next) { return (here.isNaN() && next.isNaN()).any(); };
  return std::none_of(damaged.channels.begin(), damaged.channels.end(), [&](const Matrix& channel) {
    const Index rows = channel.rows(), cols = channel.cols();
    return pair(channel.topRows(rows - 1).array(), channel.bottomRows(rows - 1).array()) ||
           pair(channel.leftCols(cols - 1).array(), channel.rightCols(cols - 1).array());
  });
}

/// Windows into which the deepest holes fit, or smaller ones where there is no room for these, or for too few. False if
/// the picture is not whole but for holes.
bool set_holes_aside(Picture& damaged, std::size_t wanted, Random& random, HeldOutSet& set) {
  const auto pixels = static_cast<double>(damaged.height() * damaged.width());
  const auto deepest = static_cast<Index>(depth_of_holes(damaged).maxCoeff());
  Index reach = std::clamp(deepest * 3 / 2 + kWindowEdge, kUsualReach, kMostReach);
  const Picture before = damaged;
  bool whole = false;
  while (true) {
    const std::vector<Place> holes = damaged_places(damaged, reach);
    std::vector<Place> centres = whole_windows(damaged, reach);
    // Whole windows in a tenth of the picture: the rest is holes in it.
    if (!holes.empty() && 10 * static_cast<double>(centres.size()) > pixels) {
      whole = true;
      // Values of a deep hole err together.
      const std::size_t more = reach > kUsualReach ? kMoreOfDeepHoles : 1;
      set_holes_aside(damaged, reach, holes, std::move(centres), more * wanted, random, set);
      if (set.values.size() >= kFewest) return true;
      damaged = before;
      set.values.clear();
    }
    if (reach == kLeastReach) return whole;
    // Between lines of text there are small windows only.
    reach = std::max(reach > kUsualReach ? kUsualReach : kLeastReach, reach * 3 / 4);
  }
}

void set_values_aside(Picture& damaged, std::size_t wanted, Random& random, HeldOutSet& set) {
  for (std::size_t k = 0; k < damaged.channels.size(); ++k)
    for (Index r = 0; r < damaged.height(); ++r)
      for (Index c = 0; c < damaged.width(); ++c)
        if (const double value = damaged.channels[k](r, c); !std::isnan(value))
          set.values.push_back(
              {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(c), value});
  for (std::size_t i = 0; i < wanted; ++i)
    std::swap(set.values[i], set.values[std::uniform_int_distribution<std::size_t>(i, set.values.size() - 1)(random)]);
  set.values.resize(wanted);
  for (const HeldOutValue& one : set.values) damaged.channels[one.channel](one.row, one.col) = std::nan("");
}

}  // namespace

HeldOutSet hold_out(Picture& damaged, std::uint64_t seed) {
  HeldOutSet set;
  Random random(seed);
  double observed = 0, all = 0;
  for (const Matrix& channel : damaged.channels) {
    all += static_cast<double>(channel.size());
    observed += static_cast<double>(channel.size() - channel.array().isNaN().count());
  }
  const auto share = [&](double part) { return static_cast<std::size_t>(part * observed); };
  const std::size_t wanted = std::min(std::max(share(kShare), std::min(kEnough, share(kMostShare))), kMost);
  if (wanted < kFewest || observed == all) return set;
  set.shaped = set_holes_aside(damaged, wanted, random, set);
  if (set.shaped && !set.values.empty()) return set;
  // Holes of which too few fit into what is whole: single values would be too easy, unless that is what is missing.
  if (set.shaped && !only_single_values(damaged)) return {};
  set.shaped = false;
  set_values_aside(damaged, wanted, random, set);
  return set;
}

HeldOut judge(const HeldOutSet& set, const Picture& picture, const Picture& variance, const Judging& by) {
  HeldOut result;
  result.values = static_cast<Index>(set.values.size());
  result.shaped = set.shaped;
  if (set.values.empty()) return result;
  std::vector<double> squares, variances;
  double sum = 0, sum_of_squares = 0;
  for (const HeldOutValue& one : set.values) {
    const double error = picture.channels[one.channel](one.row, one.col) - one.value;
    squares.push_back(error * error);
    variances.push_back(std::max(variance.channels[one.channel](one.row, one.col), kLeastVariance));
    sum += squares.back();
    sum_of_squares += squares.back() * squares.back();
  }
  const auto count = static_cast<double>(squares.size());
  const double mean = sum / count, noise_square = by.noise * by.noise;
  // Without the noise; what noise and chance make of it is known but for this.
  double square = mean - noise_square;
  const double by_chance = std::sqrt(std::max(0.0, sum_of_squares / count - mean * mean) / count);
  const double unknown = std::max(std::hypot(by_chance, 2 * noise_square * by.noise_error), -square);
  if (by.noise > 0 && square < 2 * unknown) {
    result.at_least = true;
    square = std::min(mean, std::max(0.0, square) + 2 * unknown);
  }
  const DeviationScale scale = deviation_scale(squares, variances, by.noise, std::hypot(kNoiseError, by.noise_error));
  result.scale = scale.scale;
  result.coverage = scale.coverage;
  result.rmse = std::sqrt(square);
  const double over_all = by.kept ? square * by.missing : square;
  result.psnr = 10 * std::log10(by.peak * by.peak / std::max(over_all, kLeastVariance));
  return result;
}

}  // namespace gsc
