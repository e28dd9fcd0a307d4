#include "tasks/inpaint/masked_groups.h"

#include <algorithm>
#include <cmath>

#include "math/numeric_scope.h"
#include "tasks/groups/block_matching.h"
#include "tasks/groups/group_bands.h"
#include "tasks/inpaint/masked_group_filter.h"

namespace gsc {
namespace {

/// What a thread works with.
struct Scratch {
  Scratch(const GroupSize& size, Index planes)
      : filter(size.patch * size.patch * planes, size.largest()), matches(static_cast<std::size_t>(size.largest())) {}
  MaskedGroupFilter filter;
  std::vector<PatchMatch> matches;
};

/// All groups of one size.
class Filling {
 public:
  Filling(const Planes& damaged, const Planes& pilot, const GroupSize& size, const MaskedGroupOptions& options)
      : damaged_(damaged),
        pilot_(pilot),
        size_(size),
        reach_(std::min(options.reach, kMostReach)),
        everywhere_(options.everywhere),
        noise_variance_(static_cast<float>(options.noise * options.noise)),
        ridge_(static_cast<float>(options.ridge * options.ridge)),
        floor_(static_cast<float>(options.weight_floor) * (noise_variance_ + ridge_)),
        rows_(reference_places(damaged.height(), size.patch, options.step)),
        cols_(reference_places(damaged.width(), size.patch, options.step)) {}

  Index bands() const { return (static_cast<Index>(rows_.size()) + kBandRows - 1) / kBandRows; }

  BandSums fill_band(Index band, Scratch& scratch) const {
    const auto [begin, end, top, bottom] = band_of(rows_, band, reach_, size_.patch, damaged_.height());
    BandSums sums(damaged_.size(), top, bottom - top, damaged_.width(), true);
    const BlockMatcher matcher(pilot_, size_.patch, reach_);
    for (std::size_t r = begin; r < end; ++r)
      for (const Index col : cols_) {
        if (!wanted(rows_[r], col)) continue;
        fill_group(matcher.find(rows_[r], col, size_.members, scratch.matches.data()), scratch, sums);
      }
    return sums;
  }

 private:
  bool wanted(Index row, Index col) const {
    if (everywhere_) return true;
    for (Index p = 0; p < damaged_.size(); ++p)
      for (Index r = 0; r < size_.patch; ++r) {
        const float* values = damaged_.row(p, row + r) + col;
        for (Index c = 0; c < size_.patch; ++c)
          if (std::isnan(values[c])) return true;
      }
    return false;
  }

  void fill_group(Index members, Scratch& scratch, BandSums& band) const {
    const Index side = size_.patch;
    MaskedGroupFilter& filter = scratch.filter;
    for (Index k = 0; k < members; ++k) {
      const auto [distance, row, col] = scratch.matches[static_cast<std::size_t>(k)];
      float* to = filter.pilot(k);
      for (Index p = 0; p < damaged_.size(); ++p)
        for (Index r = 0; r < side; ++r, to += side) std::copy_n(pilot_.row(p, row + r) + col, side, to);
    }
    filter.prepare(members, ridge_);
    for (Index k = 0; k < members; ++k) {
      const auto [distance, row, col] = scratch.matches[static_cast<std::size_t>(k)];
      Index observed = 0, at = 0;
      for (Index p = 0; p < damaged_.size(); ++p)
        for (Index r = 0; r < side; ++r) {
          const float* y = damaged_.row(p, row + r) + col;
          for (Index c = 0; c < side; ++c, ++at)
            if (!std::isnan(y[c])) {
              filter.places()[observed] = static_cast<std::uint32_t>(at);
              filter.values()[observed++] = y[c];
            }
        }
      if (observed == at && !everywhere_) continue;
      if (everywhere_)
        filter.fill(observed, noise_variance_);
      else
        filter.fill_missing(observed, noise_variance_);
      add(row, col, filter, band);
    }
  }

  void add(Index row, Index col, const MaskedGroupFilter& filter, BandSums& band) const {
    const Index side = size_.patch;
    const float *x = filter.mean(), *variance = filter.variance();
    for (Index p = 0; p < damaged_.size(); ++p)
      for (Index r = 0; r < side; ++r, x += side, variance += side) {
        const Index at = row + r - band.first;
        float *sums = band.sums.row(p, at) + col, *weights = band.weights.row(p, at) + col;
        float* variances = band.variances.row(p, at) + col;
        const float* y = damaged_.row(p, row + r) + col;
        for (Index c = 0; c < side; ++c) {
          if (!everywhere_ && !std::isnan(y[c])) continue;
          const float weight = 1 / (variance[c] + floor_);
          sums[c] += weight * x[c];
          weights[c] += weight;
          variances[c] += weight * variance[c];
        }
      }
  }

  const Planes &damaged_, &pilot_;
  GroupSize size_;
  Index reach_;
  bool everywhere_;
  float noise_variance_, ridge_, floor_;
  std::vector<Index> rows_, cols_;
};

Picture some_channels(const Picture& picture, const std::vector<Index>& which) {
  Picture part;
  part.depth = picture.depth;
  for (const Index c : which) part.channels.push_back(picture.channels[static_cast<std::size_t>(c)]);
  return part;
}

}  // namespace

std::vector<std::vector<Index>> channels_together(Index channels) {
  constexpr Index kMost = 4, kBands = 3;
  std::vector<std::vector<Index>> sets;
  if (channels <= kMost) {
    sets.emplace_back();
    for (Index c = 0; c < channels; ++c) sets.back().push_back(c);
    return sets;
  }
  for (Index c = 0; c < channels; c += kBands) {
    const Index first = std::min(c, channels - kBands);
    sets.push_back({first, first + 1, first + 2});
  }
  return sets;
}

FilledGroups fill_groups(const Picture& damaged, const Picture& pilot, const MaskedGroupOptions& options,
                         const std::function<bool(double)>& stop_at) {
  const NumericScope scope;
  FilledGroups result{pilot, blank(pilot)};
  const Index smaller_side = std::min(damaged.height(), damaged.width());
  const auto sets = channels_together(static_cast<Index>(damaged.channels.size()));
  const double parts = static_cast<double>(options.sizes.size() * sets.size());
  double done = 0;
  for (const std::vector<Index>& set : sets) {
    const Planes damaged_planes(some_channels(damaged, set), Colours::kept);
    const Planes pilot_planes(some_channels(pilot, set), Colours::kept);
    double count = 0;
    for (GroupSize size : options.sizes) {
      size.patch = std::min(size.patch, smaller_side);
      const Filling filling(damaged_planes, pilot_planes, size, options);
      PictureSums total(damaged_planes.size(), damaged.height(), damaged.width(), true);
      const Index bands = filling.bands();
      add_bands(
          0, bands, thread_count(options.threads), [&] { return Scratch(size, damaged_planes.size()); },
          [&](Index band, Scratch& scratch) { return filling.fill_band(band, scratch); }, total,
          [&](Index band) {
            return stop_at && stop_at((done + static_cast<double>(band) / static_cast<double>(bands)) / parts);
          },
          "inpainting");
      done += 1;
      count += 1;
      for (std::size_t p = 0; p < set.size(); ++p) {
        const auto c = static_cast<std::size_t>(set[p]);
        const auto covered = total.weights[p].array() > 0;
        const Matrix value =
            covered.select(total.sums[p].array() / total.weights[p].array(), pilot.channels[c].array());
        const Matrix variance = covered.select(total.variances[p].array() / total.weights[p].array(), 0.0);
        average_in(value, count, result.picture.channels[c], nullptr);
        average_in(variance, count, result.variance.channels[c], nullptr);
      }
    }
  }
  return result;
}

}  // namespace gsc
