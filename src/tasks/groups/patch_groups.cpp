#include "tasks/groups/patch_groups.h"

#include <gsc/team.h>

#include <algorithm>
#include <memory>

#include "math/numeric_scope.h"
#include "tasks/groups/block_matching.h"
#include "tasks/groups/group_bands.h"
#include "tasks/groups/group_filter.h"
#include "tasks/picture/parallel_rows.h"

namespace gsc {
namespace {

/// Patches nearer than this are as good as equal.
float equal_distance(const GroupOptions& options, double noise, Index patch, Index planes) {
  return static_cast<float>(options.equal * noise * noise * static_cast<double>(patch * patch * planes));
}

/// All groups of one size.
class Grouping {
 public:
  Grouping(const Planes& noisy, const Planes& pilot, double noise, const GroupSize& size, const GroupOptions& options)
      : noisy_(noisy),
        pilot_(pilot),
        size_(size),
        reach_(std::min(options.reach, kMostReach)),
        variance_(static_cast<float>(noise * noise)),
        equal_(equal_distance(options, noise, size.patch, noisy.size())),
        rows_(reference_places(noisy.height(), size.patch, options.step)),
        cols_(reference_places(noisy.width(), size.patch, options.step)) {}

  Index bands() const { return (static_cast<Index>(rows_.size()) + kBandRows - 1) / kBandRows; }

  BandSums filter_band(Index band, GroupFilter& filter, std::vector<PatchMatch>& matches) const {
    const auto [begin, end, top, bottom] = band_of(rows_, band, reach_, size_.patch, noisy_.height());
    BandSums band_sums(noisy_.size(), top, bottom - top, noisy_.width());
    const BlockMatcher matcher(pilot_, size_.patch, reach_);
    for (std::size_t r = begin; r < end; ++r)
      for (const Index col : cols_) {
        const Index found = matcher.find(rows_[r], col, size_.largest(), matches.data());
        filter_group(members_among(matches, found), filter, matches, band_sums);
      }
    return band_sums;
  }

 private:
  /// How many of those found, nearest first, are taken.
  Index members_among(const std::vector<PatchMatch>& matches, Index found) const {
    Index members = std::min(found, size_.members);
    while (members < found && matches[static_cast<std::size_t>(members)].distance < equal_) ++members;
    return members;
  }

  /// Every plane is filtered by itself, with the same members.
  void filter_group(Index members, GroupFilter& filter, const std::vector<PatchMatch>& matches, BandSums& band) const {
    const Index side = size_.patch;
    for (Index p = 0; p < noisy_.size(); ++p) {
      filter.begin(members);
      for (Index k = 0; k < members; ++k) {
        const auto [distance, row, col] = matches[static_cast<std::size_t>(k)];
        for (Index r = 0; r < side; ++r) {
          const float *x = pilot_.row(p, row + r) + col, *y = noisy_.row(p, row + r) + col;
          for (Index c = 0; c < side; ++c) {
            filter.pilot(r * side + c, k) = x[c];
            filter.noisy(r * side + c, k) = y[c];
          }
        }
      }
      const float weight = 1 / (filter.run(variance_) + 1);
      for (Index k = 0; k < members; ++k) {
        const auto [distance, row, col] = matches[static_cast<std::size_t>(k)];
        for (Index r = 0; r < side; ++r) {
          float* sums = band.sums.row(p, row + r - band.first) + col;
          float* weights = band.weights.row(p, row + r - band.first) + col;
          for (Index c = 0; c < side; ++c) {
            sums[c] += weight * filter.noisy(r * side + c, k);
            weights[c] += weight;
          }
        }
      }
    }
  }

  const Planes &noisy_, &pilot_;
  GroupSize size_;
  Index reach_;
  float variance_, equal_;
  std::vector<Index> rows_, cols_;
};

/// The same in the device's terms.
std::vector<GroupShape> shapes_of(const GroupOptions& options, double noise, Index smaller_side, Index planes) {
  std::vector<GroupShape> shapes;
  for (const GroupSize& size : options.sizes) {
    const Index patch = std::min(size.patch, smaller_side);
    shapes.push_back({.patch = patch,
                      .members = size.members,
                      .most = size.largest(),
                      .reach = std::min(options.reach, kMostReach),
                      .step = std::min(options.step, patch),
                      .variance = static_cast<float>(noise * noise),
                      .equal = equal_distance(options, noise, patch, planes)});
  }
  return shapes;
}

void filter_on_device(const Planes& noisy, const Planes& pilot, std::span<const GroupShape> shapes,
                      const GroupOptions& options, const std::function<bool(double)>& stop_at, Picture& result,
                      Picture* disagreement) {
  const Index height = noisy.height(), width = noisy.width(), plane = height * width;
  const auto numbers = static_cast<std::size_t>(noisy.size() * plane);
  const auto mean = std::make_unique_for_overwrite<float[]>(numbers);
  const auto variance = std::make_unique_for_overwrite<float[]>(disagreement != nullptr ? numbers : 0);
  options.device->filter_groups(noisy.view(), pilot.view(),
                                std::max(noisy.largest(options.threads), pilot.largest(options.threads)), shapes,
                                mean.get(), disagreement != nullptr ? variance.get() : nullptr, stop_at);
  const auto take = [&](const float* from, Picture& to) {
    to.channels.resize(static_cast<std::size_t>(noisy.size()));
    for (Matrix& channel : to.channels) {
      channel.resize(height, width);
      parallel_rows(height, width, options.threads, [&](Index y) {
        channel.row(y) = Eigen::Map<const Eigen::RowVectorXf>(from + y * width, width).cast<double>();
      });
      from += plane;
    }
  };
  take(mean.get(), result);
  if (disagreement != nullptr) take(variance.get(), *disagreement);
}

/// What a thread works with.
struct Scratch {
  explicit Scratch(const GroupSize& size)
      : filter(size.patch * size.patch, size.largest()), matches(static_cast<std::size_t>(size.largest())) {}
  GroupFilter filter;
  std::vector<PatchMatch> matches;
};

}  // namespace

Picture filter_groups(const Picture& noisy, const Picture& pilot, double noise, const GroupOptions& options,
                      const std::function<bool(double)>& stop_at, Picture* disagreement) {
  const NumericScope scope;
  const Planes noisy_planes(noisy, Colours::turned, options.threads);
  const Planes pilot_planes(pilot, Colours::turned, options.threads);
  const Index smaller_side = std::min(noisy.height(), noisy.width());
  Picture result;
  result.depth = noisy.depth;
  if (disagreement != nullptr) {
    *disagreement = {};
    disagreement->depth = noisy.depth;
  }
  if (options.device != nullptr && options.team == nullptr) {
    const std::vector<GroupShape> shapes = shapes_of(options, noise, smaller_side, noisy_planes.size());
    if (options.device->has(shapes)) {
      filter_on_device(noisy_planes, pilot_planes, shapes, options, stop_at, result, disagreement);
      return result;
    }
  }
  result = blank(noisy, options.threads);
  if (disagreement != nullptr) *disagreement = blank(noisy, options.threads);
  const auto sizes = static_cast<double>(options.sizes.size());
  double done = 0;
  for (GroupSize size : options.sizes) {
    size.patch = std::min(size.patch, smaller_side);
    const Grouping groups(noisy_planes, pilot_planes, noise, size, options);
    PictureSums total(noisy_planes.size(), noisy.height(), noisy.width(), false, options.threads);
    Index begin = 0, end = groups.bands();
    if (options.team != nullptr) {
      begin = groups.bands() * options.team->rank() / options.team->size();
      end = groups.bands() * (options.team->rank() + 1) / options.team->size();
    }
    const auto filter = [&] {
      add_bands(
          begin, end, thread_count(options.threads), [&] { return Scratch(size); },
          [&](Index band, Scratch& scratch) { return groups.filter_band(band, scratch.filter, scratch.matches); },
          total,
          [&](Index bands) {
            return stop_at && stop_at((done + static_cast<double>(bands) / static_cast<double>(end - begin)) / sizes);
          },
          "denoising");
    };
    if (options.team != nullptr) {
      all_or_none(*options.team, filter);
      for (auto* matrices : {&total.sums, &total.weights})
        for (Matrix& matrix : *matrices) options.team->sum(matrix.data(), matrix.size());
    } else {
      filter();
    }
    for (std::size_t p = 0; p < total.sums.size(); ++p)
      parallel_rows(noisy.height(), noisy.width(), options.threads,
                    [&](Index y) { total.sums[p].row(y).array() /= total.weights[p].row(y).array(); });
    to_channels(total.sums, options.threads);
    done += 1;
    for (std::size_t c = 0; c < total.sums.size(); ++c)
      average_in(total.sums[c], done, result.channels[c],
                 disagreement != nullptr ? &disagreement->channels[c] : nullptr, options.threads);
  }
  return result;
}

void average_in(Picture& mean, const Picture& value, int count, int threads) {
  for (std::size_t c = 0; c < mean.channels.size(); ++c)
    average_in(value.channels[c], count, mean.channels[c], nullptr, threads);
}

void filter_in_rounds(const Picture& noisy, double noise, const GroupOptions& options, int rounds, Picture& result,
                      const std::function<void()>& begin_round, const std::function<bool(double)>& stop_at,
                      Picture* disagreement) {
  Picture pilot;  // where it is not the result so far
  for (int round = 1; round <= rounds; ++round) {
    if (begin_round) begin_round();
    const bool averaged = rounds > 3 && round > 2;
    Picture filtered = filter_groups(noisy, averaged && round > 3 ? pilot : result, noise, options, stop_at,
                                     round == rounds ? disagreement : nullptr);
    if (averaged) {
      average_in(result, filtered, round - 1, options.threads);
      pilot = std::move(filtered);
    } else {
      result = std::move(filtered);
    }
  }
}

}  // namespace gsc
