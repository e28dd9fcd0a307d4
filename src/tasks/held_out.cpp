#include "tasks/held_out.h"

#include <algorithm>
#include <cmath>

namespace gsc {
namespace {

/// A twentieth of what is observed, of small pictures up to a tenth: of 1500 errors the quantile is known to half a
/// percent, and what is set aside is missing for a while (0.1 to 0.2 dB, if it is a tenth).
constexpr double kShare = 0.05, kMostShare = 0.1;
constexpr std::size_t kEnough = 1500, kMost = 4000, kFewest = 40;
/// Of the errors of the values set aside, and what of them two deviations must hold.
constexpr double kCovered = 0.95;

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
std::vector<Place> whole_windows(const Picture& damaged) {
  const Table<std::int32_t> sums = whole_sums(damaged);
  constexpr Index side = 2 * kWindowReach + 1;
  std::vector<Place> centres;
  for (Index r = 0; r + side <= damaged.height(); ++r)
    for (Index c = 0; c + side <= damaged.width(); ++c)
      if (sums(r + side, c + side) - sums(r, c + side) - sums(r + side, c) + sums(r, c) == side * side)
        centres.push_back({r + kWindowReach, c + kWindowReach});
  return centres;
}

/// Pixels at which something is missing and around which there is a whole window of picture.
std::vector<Place> damaged_places(const Picture& damaged) {
  std::vector<Place> places;
  for (Index r = kWindowReach; r + kWindowReach < damaged.height(); ++r)
    for (Index c = kWindowReach; c + kWindowReach < damaged.width(); ++c)
      if (std::any_of(damaged.channels.begin(), damaged.channels.end(),
                      [&](const Matrix& channel) { return std::isnan(channel(r, c)); }))
        places.push_back({r, c});
  return places;
}

/// Lays windows of the mask over whole parts. What is near their middles is for judging; the rest is missing, too.
void set_holes_aside(Picture& damaged, const std::vector<Place>& holes, std::vector<Place> centres, std::size_t wanted,
                     Random& random, HeldOutSet& set) {
  const Picture mask = damaged;
  Table<std::uint8_t> taken = Table<std::uint8_t>::Zero(damaged.height(), damaged.width());
  std::shuffle(centres.begin(), centres.end(), random);
  for (const Place& to : centres) {
    if (set.values.size() >= wanted) return;
    constexpr Index side = 2 * kWindowReach + 1;
    if (taken.block(to.row - kWindowReach, to.col - kWindowReach, side, side).any()) continue;
    taken.block(to.row - kWindowReach, to.col - kWindowReach, side, side).setOnes();
    const Place& from = holes[std::uniform_int_distribution<std::size_t>(0, holes.size() - 1)(random)];
    for (std::size_t k = 0; k < damaged.channels.size(); ++k)
      for (Index r = -kWindowReach; r <= kWindowReach; ++r)
        for (Index c = -kWindowReach; c <= kWindowReach; ++c) {
          if (!std::isnan(mask.channels[k](from.row + r, from.col + c))) continue;
          double& value = damaged.channels[k](to.row + r, to.col + c);
          if (std::max(std::abs(r), std::abs(c)) <= kWindowCentre)
            set.values.push_back({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(to.row + r),
                                  static_cast<std::uint32_t>(to.col + c), value});
          value = std::nan("");
        }
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
  const std::vector<Place> holes = damaged_places(damaged);
  std::vector<Place> centres = whole_windows(damaged);
  // Whole windows in a tenth of the picture: the rest is holes in it.
  if (!holes.empty() && 10 * static_cast<double>(centres.size()) > all / static_cast<double>(damaged.channels.size())) {
    set.shaped = true;
    set_holes_aside(damaged, holes, std::move(centres), wanted, random, set);
  } else {
    set_values_aside(damaged, wanted, random, set);
  }
  return set;
}

HeldOut judge(const HeldOutSet& set, const Picture& picture, const Picture& variance, double noise, double missing,
              bool kept, double peak) {
  HeldOut result;
  result.values = static_cast<Index>(set.values.size());
  result.shaped = set.shaped;
  if (set.values.empty()) return result;
  // |error| <= 2 sqrt(scale^2 variance + noise^2)   <=>   scale^2 >= (error^2 / 4 - noise^2) / variance
  std::vector<double> needed;
  double square = 0;
  for (const HeldOutValue& one : set.values) {
    const double error = picture.channels[one.channel](one.row, one.col) - one.value;
    const double v = std::max(variance.channels[one.channel](one.row, one.col), 1e-12 * peak * peak);
    square += error * error;
    needed.push_back(std::max(0.0, error * error / 4 - noise * noise) / v);
  }
  const auto count = static_cast<double>(needed.size());
  square = std::max(0.0, square / count - noise * noise);
  const auto at = needed.begin() + static_cast<std::ptrdiff_t>(std::min(kCovered * count, count - 1));
  std::nth_element(needed.begin(), at, needed.end());
  const double scale_square = std::max(*at, 1e-4);
  result.scale = std::sqrt(scale_square);
  result.coverage =
      static_cast<double>(std::count_if(needed.begin(), needed.end(), [&](double s) { return s <= scale_square; })) /
      count;
  result.rmse = std::sqrt(square);
  const double over_all = kept ? square * missing : square;
  result.psnr = 10 * std::log10(peak * peak / std::max(over_all, 1e-12 * peak * peak));
  return result;
}

}  // namespace gsc
