#include "tasks/inpaint/held_out.h"

#include <algorithm>
#include <cmath>

#include "tasks/inpaint/deep_holes.h"
#include "tasks/inpaint/deviation_scale.h"

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
/// Of deep holes beside other gaps: the least k, and how many squares of them chance may make (held_out.h).
constexpr Index kLeastDeep = 4;
constexpr double kByChance = 0.01;

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

/// Lays windows of the holes, around `places` in them, over the parts around `centres`, until there are `wanted` values
/// or a quarter of the picture is covered. What is near the windows' edges is missing, too, but easier than it was, so
/// it is not for judging.
void lay_windows(Picture& damaged, const Picture& holes, Index reach, const std::vector<Place>& places,
                 std::vector<Place> centres, std::size_t wanted, Random& random, HeldOutKind& kind) {
  const Index side = 2 * reach + 1, centre = reach - std::min(kWindowEdge, reach / 2);
  Index room = damaged.height() * damaged.width() / kMostCovered;
  Table<std::uint8_t> taken = Table<std::uint8_t>::Zero(damaged.height(), damaged.width());
  kind.below = taken;
  std::shuffle(centres.begin(), centres.end(), random);
  std::uint32_t part = 0;
  for (const Place& to : centres) {
    if (kind.values.size() >= wanted || (room < 0 && !kind.values.empty())) return;
    if (taken.block(to.row - reach, to.col - reach, side, side).any()) continue;
    taken.block(to.row - reach, to.col - reach, side, side).setOnes();
    if (reach > kUsualReach) room -= side * side;
    ++part;
    const Place& from = places[std::uniform_int_distribution<std::size_t>(0, places.size() - 1)(random)];
    for (std::size_t k = 0; k < damaged.channels.size(); ++k)
      for (Index r = -reach; r <= reach; ++r)
        for (Index c = -reach; c <= reach; ++c) {
          if (!std::isnan(holes.channels[k](from.row + r, from.col + c))) continue;
          double& value = damaged.channels[k](to.row + r, to.col + c);
          kind.below(to.row + r, to.col + c) = 1;
          if (std::isnan(value)) continue;
          if (std::max(std::abs(r), std::abs(c)) <= centre)
            kind.values.push_back({static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(to.row + r),
                                   static_cast<std::uint32_t>(to.col + c), value, part});
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

enum class Laid { no_room, too_few, enough };

/// Windows of holes (NaN there) over parts without anything `in_the_way` (NaN); no room where these are less than a
/// tenth of the picture, as then the rest is holes in it. What was laid is taken back unless it is enough.
Laid set_holes_aside(Picture& damaged, const Picture& holes, const Picture& in_the_way, Index reach, std::size_t wanted,
                     Random& random, HeldOutKind& kind) {
  const std::vector<Place> places = damaged_places(holes, reach);
  std::vector<Place> centres = whole_windows(in_the_way, reach);
  const auto pixels = static_cast<double>(damaged.height() * damaged.width());
  if (places.empty() || 10 * static_cast<double>(centres.size()) <= pixels) return Laid::no_room;
  const Picture before = damaged;
  // Values of a deep hole err together.
  const std::size_t more = reach > kUsualReach ? kMoreOfDeepHoles : 1;
  lay_windows(damaged, holes, reach, places, std::move(centres), more * wanted, random, kind);
  kind.shaped = true;
  if (kind.values.size() >= kFewest) return Laid::enough;
  damaged = before;
  kind = {.missing = kind.missing};
  return Laid::too_few;
}

/// Pixels of deep holes, larger than chance makes them.
Table<std::uint8_t> deep_holes(const Table<std::int32_t>& depth) {
  const auto pixels = static_cast<double>(depth.size());
  const double missing = static_cast<double>((depth.array() > 0).count()) / pixels;
  const Index largest = depth.maxCoeff();
  Index k = kLeastDeep;
  while (k < largest && pixels * std::pow(missing, static_cast<double>((2 * k + 1) * (2 * k + 1))) >= kByChance) ++k;
  return deep_parts(depth, k);
}

/// A picture of which only the deep holes are missing, or only what is not in them.
Picture with_holes(const Picture& damaged, const Table<std::uint8_t>& deep) {
  Picture holes;
  holes.channels.assign(damaged.channels.size(),
                        (deep.array() != 0).select(std::nan(""), Matrix::Zero(deep.rows(), deep.cols())));
  return holes;
}
Picture without_holes(const Picture& damaged, const Table<std::uint8_t>& deep) {
  Picture rest = damaged;
  for (Matrix& channel : rest.channels) channel = (deep.array() != 0).select(0.0, channel);
  return rest;
}

/// Between lines of text there are small windows only.
Index smaller(Index reach) { return std::max(reach > kUsualReach ? kUsualReach : kLeastReach, reach * 3 / 4); }

void set_values_aside(Picture& damaged, std::size_t wanted, Random& random, HeldOutKind& set) {
  for (std::size_t k = 0; k < damaged.channels.size(); ++k)
    for (Index r = 0; r < damaged.height(); ++r)
      for (Index c = 0; c < damaged.width(); ++c)
        if (const double value = damaged.channels[k](r, c); !std::isnan(value))
          set.values.push_back(
              {static_cast<std::uint32_t>(k), static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(c), value});
  wanted = std::min(wanted, set.values.size());
  for (std::size_t i = 0; i < wanted; ++i)
    std::swap(set.values[i], set.values[std::uniform_int_distribution<std::size_t>(i, set.values.size() - 1)(random)]);
  set.values.resize(wanted);
  for (std::size_t i = 0; i < wanted; ++i) set.values[i].part = static_cast<std::uint32_t>(i);
  for (const HeldOutValue& one : set.values) damaged.channels[one.channel](one.row, one.col) = std::nan("");
}

/// Where deep holes have been laid over `damaged`, what else is missing: text and scratches in windows, if there is
/// room for these, or else single values.
void set_rest_aside(Picture& damaged, const Picture& rest, std::size_t wanted, Random& random, HeldOutKind& kind) {
  const Picture in_the_way = damaged;
  for (Index reach = kUsualReach;; reach = smaller(reach)) {
    if (set_holes_aside(damaged, rest, in_the_way, reach, wanted, random, kind) == Laid::enough) return;
    if (reach == kLeastReach) break;
  }
  set_values_aside(damaged, wanted, random, kind);
}

/// Windows into which the deepest holes fit, or smaller ones where there is no room for these, or for too few. Nothing
/// if the picture is not whole but for holes, nor but for deep holes and other gaps; `whole` says whether it is the
/// first.
HeldOutSet set_windows_aside(Picture& damaged, std::size_t wanted, double share_of_value, Random& random, bool& whole) {
  const Table<std::int32_t> depth = depth_of_holes(damaged);
  const auto channels = static_cast<double>(damaged.channels.size());
  const double missing = static_cast<double>(missing_values(damaged));
  const Table<std::uint8_t> deep = deep_holes(depth);
  const double in_deep = channels * static_cast<double>(deep.count());
  const Picture before = damaged, holes = in_deep > 0 ? with_holes(damaged, deep) : Picture();
  Index reach = std::clamp(static_cast<Index>(depth.maxCoeff()) * 3 / 2 + kWindowEdge, kUsualReach, kMostReach);
  for (whole = false;; reach = smaller(reach)) {
    HeldOutKind all{.missing = missing * share_of_value};
    const Laid laid = set_holes_aside(damaged, before, before, reach, wanted, random, all);
    if (laid == Laid::enough) return {.kinds = {all}, .deep = {}};
    whole = whole || laid == Laid::too_few;
    if (in_deep > 0 && in_deep < missing) {
      HeldOutKind rest{.missing = (missing - in_deep) * share_of_value}, in_holes{.missing = in_deep * share_of_value};
      if (set_holes_aside(damaged, holes, holes, reach, wanted, random, in_holes) == Laid::enough)
        set_rest_aside(damaged, without_holes(before, deep), wanted, random, rest);
      if (rest.values.size() >= kFewest) return {.kinds = {rest, in_holes}, .deep = deep};
      damaged = before;
    }
    if (reach == kLeastReach) return {};
  }
}

}  // namespace

std::size_t HeldOutSet::values() const {
  std::size_t count = 0;
  for (const HeldOutKind& kind : kinds) count += kind.values.size();
  return count;
}

HeldOutSet hold_out(Picture& damaged, std::uint64_t seed) {
  Random random(seed);
  double all = 0;
  for (const Matrix& channel : damaged.channels) all += static_cast<double>(channel.size());
  const double missing = static_cast<double>(missing_values(damaged)), observed = all - missing;
  const auto share = [&](double part) { return static_cast<std::size_t>(part * observed); };
  const std::size_t wanted = std::min(std::max(share(kShare), std::min(kEnough, share(kMostShare))), kMost);
  if (wanted < kFewest || missing == 0) return {};
  bool whole = false;
  HeldOutSet set = set_windows_aside(damaged, wanted, 1 / all, random, whole);
  if (!set.kinds.empty()) return set;
  // Holes of which too few fit into what is whole: single values would be too easy, unless that is what is missing.
  if (whole && !only_single_values(damaged)) return {};
  HeldOutKind single{.missing = missing / all};
  set_values_aside(damaged, wanted, random, single);
  return {.kinds = {single}, .deep = {}};
}

namespace {

/// What the errors of a kind say.
struct Judged {
  double mean = 0, by_chance = 0;  ///< of the squares, and the standard error of that
  double scale = 1, coverage = 0;
};

/// Where the second half of the values begins: between two parts, if there are as many.
std::size_t half_of(const std::vector<HeldOutValue>& values) {
  const std::size_t middle = values.size() / 2;
  for (std::size_t away = 0; away < middle; ++away)
    for (const std::size_t at : {middle - away, middle + away})
      if (at < values.size() && values[at].part != values[at - 1].part) return at;
  return middle;
}

Judged judged(const HeldOutKind& kind, const Picture& picture, const Picture& variance, const Judging& by) {
  std::vector<double> squares, variances;
  double sum = 0, sum_of_squares = 0;
  for (const HeldOutValue& one : kind.values) {
    const double error = picture.channels[one.channel](one.row, one.col) - one.value;
    squares.push_back(error * error);
    variances.push_back(std::max(variance.channels[one.channel](one.row, one.col), kLeastVariance));
    sum += squares.back();
    sum_of_squares += squares.back() * squares.back();
  }
  const auto count = static_cast<double>(squares.size());
  const double mean = sum / count, noise_error = std::hypot(kNoiseError, by.noise_error);
  return {mean, std::sqrt(std::max(0.0, sum_of_squares / count - mean * mean) / count),
          deviation_scale(squares, variances, by.noise, noise_error).scale,
          coverage_across(squares, variances, half_of(kind.values), by.noise, noise_error)};
}

}  // namespace

HeldOut judge(const HeldOutSet& set, const Picture& picture, const Picture& variance, const Judging& by) {
  HeldOut result;
  result.values = static_cast<Index>(set.values());
  if (set.kinds.empty()) return result;
  // Of what has an error: without noise that is what is missing, else all. What is observed errs as single values do.
  std::vector<double> weights;
  for (const HeldOutKind& kind : set.kinds) weights.push_back(kind.missing);
  if (!by.kept) weights.front() = set.kinds.size() > 1 ? 1 - set.kinds.back().missing : 1;
  double with_error = 0, mean = 0, by_chance = 0;
  for (const double weight : weights) with_error += weight;
  for (std::size_t k = 0; k < set.kinds.size(); ++k) {
    const Judged one = judged(set.kinds[k], picture, variance, by);
    const double weight = weights[k] / with_error;
    mean += weight * one.mean;
    by_chance = std::hypot(by_chance, weight * one.by_chance);
    result.coverage += weight * one.coverage;
    (k == 0 ? result.scale : result.deep_scale) = one.scale;
    result.shaped = result.shaped || set.kinds[k].shaped;
  }
  if (set.kinds.size() > 1) result.deep_values = static_cast<Index>(set.kinds.back().values.size());
  const double noise_square = by.noise * by.noise;
  // Without the noise; what noise and chance make of it is known but for this.
  double square = mean - noise_square;
  const double unknown = std::max(std::hypot(by_chance, 2 * noise_square * by.noise_error), -square);
  if (by.noise > 0 && square < 2 * unknown) {
    result.at_least = true;
    square = std::min(mean, std::max(0.0, square) + 2 * unknown);
  }
  result.rmse = std::sqrt(square);
  result.psnr = 10 * std::log10(by.peak * by.peak / std::max(square * with_error, kLeastVariance));
  return result;
}

}  // namespace gsc
