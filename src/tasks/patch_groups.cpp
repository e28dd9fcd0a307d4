#include "tasks/patch_groups.h"

#include <gsc/inference.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>

#include "distributed/together.h"
#include "math/numeric_scope.h"
#include "tasks/block_matching.h"
#include "tasks/group_filter.h"

namespace gsc {
namespace {

/// Rows of references that are worked on together. Their sums are added to the picture's in the order of the bands,
/// whoever made them.
constexpr Index kBandRows = 4;

/// Weighted sums of filtered patches over some rows of the picture.
struct BandSums {
  BandSums(Index planes, Index first_row, Index rows, Index width)
      : first(first_row), sums(planes, rows, width), weights(planes, rows, width) {}
  Index first;  ///< row of the picture
  Planes sums, weights;
};

/// 0, step, 2 step, ..., and the last one that fits.
std::vector<Index> reference_places(Index last, Index step) {
  std::vector<Index> places;
  for (Index at = 0; at < last; at += step) places.push_back(at);
  places.push_back(last);
  return places;
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
        equal_(static_cast<float>(options.equal * noise * noise *
                                  static_cast<double>(size.patch * size.patch * noisy.size()))),
        rows_(reference_places(noisy.height() - size.patch, options.step)),
        cols_(reference_places(noisy.width() - size.patch, options.step)) {}

  Index bands() const { return (static_cast<Index>(rows_.size()) + kBandRows - 1) / kBandRows; }

  BandSums filter_band(Index band, GroupFilter& filter, std::vector<PatchMatch>& matches) const {
    const auto begin = static_cast<std::size_t>(band * kBandRows);
    const auto end = std::min(begin + kBandRows, rows_.size());
    const Index top = std::max<Index>(0, rows_[begin] - reach_);
    const Index bottom = std::min(noisy_.height(), rows_[end - 1] + reach_ + size_.patch);
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

/// What all bands have summed up.
struct PictureSums {
  PictureSums(Index planes, Index height, Index width)
      : sums(static_cast<std::size_t>(planes), Matrix::Zero(height, width)), weights(sums) {}

  void add(const BandSums& band) {
    for (std::size_t p = 0; p < sums.size(); ++p)
      for (Index r = 0; r < band.sums.height(); ++r) {
        const float* from = band.sums.row(static_cast<Index>(p), r);
        const float* weight = band.weights.row(static_cast<Index>(p), r);
        for (Index c = 0; c < band.sums.width(); ++c) {
          sums[p](band.first + r, c) += static_cast<double>(from[c]);
          weights[p](band.first + r, c) += static_cast<double>(weight[c]);
        }
      }
  }

  std::vector<Matrix> sums, weights;
};

/// Bands begin .. end-1, on several threads.
void filter_bands(const Grouping& groups, const GroupSize& size, Index begin, Index end, int threads,
                  PictureSums& total, const std::function<bool(Index)>& go_on) {
  std::atomic<bool> stopped = false;
  std::exception_ptr failure;
#pragma omp parallel num_threads(threads)
  {
    const FloatingPointScope floating_point;
    GroupFilter filter(size.patch * size.patch, size.largest());
    std::vector<PatchMatch> matches(static_cast<std::size_t>(size.largest()));
#pragma omp for ordered schedule(dynamic, 1)
    for (Index band = begin; band < end; ++band) {
      std::optional<BandSums> sums;
      try {
        if (!stopped) sums = groups.filter_band(band, filter, matches);
        if (omp_get_thread_num() == 0 && go_on && !stopped && !go_on(band - begin)) stopped = true;
      } catch (...) {
        stopped = true;
#pragma omp critical(gsc_group_failure)
        if (!failure) failure = std::current_exception();
      }
#pragma omp ordered
      if (sums) total.add(*sums);
    }
  }
  if (failure) std::rethrow_exception(failure);
  if (stopped) throw Interrupted("interrupted while denoising");
}

/// The same size and depth, all zero.
Picture blank(const Picture& like) {
  Picture result;
  result.channels.assign(like.channels.size(), Matrix::Zero(like.height(), like.width()));
  result.depth = like.depth;
  return result;
}

/// The count-th value of every pixel goes into the mean and, unless null, the variance of all so far (Welford 1962).
void average_in(const Matrix& value, double count, Matrix& mean, Matrix* variance) {
  if (variance != nullptr) *variance = (*variance + (value - mean).cwiseAbs2() / count) * ((count - 1) / count);
  mean += (value - mean) / count;
}

}  // namespace

Picture filter_groups(const Picture& noisy, const Picture& pilot, double noise, const GroupOptions& options,
                      const std::function<bool(double)>& go_on, Picture* disagreement) {
  const NumericScope scope;
  const Planes noisy_planes(noisy), pilot_planes(pilot);
  const Index smaller_side = std::min(noisy.height(), noisy.width());
  Picture result = blank(noisy);
  if (disagreement != nullptr) *disagreement = blank(noisy);
  const auto sizes = static_cast<double>(options.sizes.size());
  double done = 0;
  for (GroupSize size : options.sizes) {
    size.patch = std::min(size.patch, smaller_side);
    const Grouping groups(noisy_planes, pilot_planes, noise, size, options);
    PictureSums total(noisy_planes.size(), noisy.height(), noisy.width());
    Index begin = 0, end = groups.bands();
    if (options.team != nullptr) {
      begin = groups.bands() * options.team->rank() / options.team->size();
      end = groups.bands() * (options.team->rank() + 1) / options.team->size();
    }
    const auto filter = [&] {
      filter_bands(groups, size, begin, end, thread_count(options.threads), total, [&](Index bands) {
        return !go_on || go_on((done + static_cast<double>(bands) / static_cast<double>(end - begin)) / sizes);
      });
    };
    if (options.team != nullptr) {
      together(*options.team, filter);
      for (auto* matrices : {&total.sums, &total.weights})
        for (Matrix& matrix : *matrices) options.team->sum(matrix.data(), matrix.size());
    } else {
      filter();
    }
    for (std::size_t p = 0; p < total.sums.size(); ++p) total.sums[p].array() /= total.weights[p].array();
    to_channels(total.sums);
    done += 1;
    for (std::size_t c = 0; c < total.sums.size(); ++c)
      average_in(total.sums[c], done, result.channels[c],
                 disagreement != nullptr ? &disagreement->channels[c] : nullptr);
  }
  return result;
}

}  // namespace gsc
