#include "tasks/inpaint/deep_holes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "inference/cost_model.h"
#include "math/failure.h"
#include "math/numeric_scope.h"
#include "tasks/groups/group_bands.h"
#include "tasks/inpaint/masked_group_filter.h"
#include "tasks/inpaint/masked_groups.h"

namespace gsc {
namespace {

constexpr Index kShell = 3;            // pixels that are filled at a time
constexpr Index kStep = 2;             // pixels from patch to patch
constexpr Index kReach = 40;           // where whole patches are looked for
constexpr std::size_t kMembers = 12;   // of them
constexpr double kLeastKnown = 0.25;   // of a patch's pixels
constexpr std::size_t kTogether = 32;  // patches whose results are kept until they are added up

struct Place {
  double distance;
  Index row, col;
};

/// What fill_deep_holes() fills: nothing where no patch fits into the picture.
Table<std::uint8_t> deep_for(const Picture& damaged, Index patch) {
  if (patch > std::min(damaged.height(), damaged.width()))
    return Table<std::uint8_t>::Zero(damaged.height(), damaged.width());
  return deep_parts(depth_of_holes(damaged), patch / 2);
}

/// Chessboard distance of every pixel to the nearest that is 0 in `distance`, where all others are far: two sweeps.
void sweep(Table<std::int32_t>& distance) {
  const Index height = distance.rows(), width = distance.cols();
  const auto lower = [&](Index r, Index c, Index dr, Index dc) {
    if (r + dr < 0 || r + dr >= height || c + dc < 0 || c + dc >= width) return;
    distance(r, c) = std::min(distance(r, c), distance(r + dr, c + dc) + 1);
  };
  for (Index r = 0; r < height; ++r)
    for (Index c = 0; c < width; ++c)
      for (const auto& [dr, dc] : {std::pair<Index, Index>{-1, -1}, {-1, 0}, {-1, 1}, {0, -1}}) lower(r, c, dr, dc);
  for (Index r = height - 1; r >= 0; --r)
    for (Index c = width - 1; c >= 0; --c)
      for (const auto& [dr, dc] : {std::pair<Index, Index>{1, 1}, {1, 0}, {1, -1}, {0, 1}}) lower(r, c, dr, dc);
}

/// A picture being filled: what is known so far, and patches of it.
class HoleFilling {
 public:
  HoleFilling(const Table<std::uint8_t>& deep, Index patch, double ridge, Picture& pilot, int threads)
      : patch_(patch),
        ridge_(static_cast<float>(ridge * ridge)),
        values_(pilot),
        known_((deep.array() == 0).cast<std::uint8_t>()),
        sets_(channels_together(static_cast<Index>(pilot.channels.size()))),
        threads_(thread_count(threads)) {}

  bool done() const { return known_.all(); }

  /// One shell. False if nothing could be filled: no whole patch is near.
  bool fill_shell(const std::function<bool()>& stop_at) {
    const Table<std::uint8_t> shell = around_known();
    sums_.assign(values_.channels.size(), Matrix::Zero(values_.height(), values_.width()));
    weights_ = Matrix::Zero(values_.height(), values_.width());
    sum_known();
    std::vector<Place> places;
    for (const Index row : reference_places(values_.height(), patch_, kStep))
      for (const Index col : reference_places(values_.width(), patch_, kStep)) {
        const Index here = known_in(row, col);
        const double least = kLeastKnown * static_cast<double>(patch_ * patch_);
        if (here == patch_ * patch_ || static_cast<double>(here) < least) continue;
        if (shell.block(row, col, patch_, patch_).any()) places.push_back({0, row, col});
      }
    fill_patches(places, stop_at);
    bool any = false;
    for (Index r = 0; r < values_.height(); ++r)
      for (Index c = 0; c < values_.width(); ++c) {
        if (shell(r, c) == 0) continue;
        if (weights_(r, c) > 0) {
          for (std::size_t k = 0; k < sums_.size(); ++k) values_.channels[k](r, c) = sums_[k](r, c) / weights_(r, c);
          any = true;
        }
        known_(r, c) = 1;  // or else the first guess has to do
      }
    return any;
  }

 private:
  /// Pixels that are not known but near such that are.
  Table<std::uint8_t> around_known() const {
    Table<std::uint8_t> near = Table<std::uint8_t>::Zero(known_.rows(), known_.cols());
    for (Index r = 0; r < known_.rows(); ++r)
      for (Index c = 0; c < known_.cols(); ++c) {
        if (known_(r, c) != 0) continue;
        const Index top = std::max<Index>(0, r - kShell), bottom = std::min(known_.rows(), r + kShell + 1);
        const Index left = std::max<Index>(0, c - kShell), right = std::min(known_.cols(), c + kShell + 1);
        near(r, c) = known_.block(top, left, bottom - top, right - left).any() ? 1 : 0;
      }
    return near;
  }

  void sum_known() {
    known_sums_ = Table<std::int32_t>::Zero(known_.rows() + 1, known_.cols() + 1);
    for (Index r = 0; r < known_.rows(); ++r)
      for (Index c = 0; c < known_.cols(); ++c)
        known_sums_(r + 1, c + 1) = known_(r, c) + known_sums_(r, c + 1) + known_sums_(r + 1, c) - known_sums_(r, c);
  }
  Index known_in(Index row, Index col) const {
    return known_sums_(row + patch_, col + patch_) - known_sums_(row, col + patch_) - known_sums_(row + patch_, col) +
           known_sums_(row, col);
  }

  /// Sum of squares of the differences where the patch at (row, col) is known; more than `most`: does not matter.
  double distance(Index row, Index col, Index r0, Index c0, double most) const {
    double sum = 0;
    for (Index r = 0; r < patch_ && sum < most; ++r)
      for (Index c = 0; c < patch_; ++c) {
        if (known_(row + r, col + c) == 0) continue;
        for (const Matrix& channel : values_.channels) {
          const double difference = channel(row + r, col + c) - channel(r0 + r, c0 + c);
          sum += difference * difference;
        }
      }
    return sum;
  }

  /// Whole patches most like the one here, nearest first.
  std::vector<Place> alike(Index row, Index col) const {
    std::vector<Place> places;
    const Index bottom = std::min(values_.height() - patch_, row + kReach);
    const Index right = std::min(values_.width() - patch_, col + kReach);
    for (Index r = std::max<Index>(0, row - kReach); r <= bottom; ++r)
      for (Index c = std::max<Index>(0, col - kReach); c <= right; ++c) {
        if (known_in(r, c) != patch_ * patch_) continue;
        const bool full = places.size() == kMembers;
        const double worst = full ? places.back().distance : std::numeric_limits<double>::infinity();
        const double d = distance(row, col, r, c, worst);
        if (!(d < worst)) continue;
        if (full) places.pop_back();
        places.insert(std::upper_bound(places.begin(), places.end(), d,
                                       [](double value, const Place& place) { return value < place.distance; }),
                      {d, r, c});
      }
    return places;
  }

  /// Several threads fill patches, a few at a time, which are added up in their order.
  void fill_patches(const std::vector<Place>& places, const std::function<bool()>& stop_at) {
    for (std::size_t first = 0; first < places.size(); first += kTogether) {
      if (stop_at && stop_at()) throw Interrupted("interrupted while inpainting");
      const std::size_t count = std::min(kTogether, places.size() - first);
      std::vector<std::vector<float>> filled(count);
      Failure failure;
#pragma omp parallel num_threads(threads_)
      {
        const FloatingPointScope floating_point;
        std::optional<MaskedGroupFilter> filter;
        failure.guard([&] {
          filter.emplace(patch_ * patch_ * static_cast<Index>(sets_.front().size()), static_cast<Index>(kMembers));
        });
#pragma omp for schedule(dynamic, 1)
        for (std::size_t i = 0; i < count; ++i)
          failure.guard([&] { filled[i] = filled_patch(places[first + i], *filter); });
      }
      failure.rethrow();
      for (std::size_t i = 0; i < count; ++i)
        if (!filled[i].empty()) add(places[first + i], filled[i]);
    }
  }

  template <class Visit>
  void walk(const std::vector<Index>& bands, const Visit& visit) const {
    Index at = 0;
    for (const Index band : bands)
      for (Index r = 0; r < patch_; ++r)
        for (Index c = 0; c < patch_; ++c, ++at) visit(values_.channels[static_cast<std::size_t>(band)], r, c, at);
  }

  /// All bands, one after the other; empty if no patch is like this one.
  std::vector<float> filled_patch(const Place& here, MaskedGroupFilter& filter) const {
    const std::vector<Place> places = alike(here.row, here.col);
    if (places.empty()) return {};
    std::vector<float> means(static_cast<std::size_t>(patch_ * patch_) * values_.channels.size());
    for (const std::vector<Index>& bands : sets_) {
      for (std::size_t m = 0; m < places.size(); ++m)
        walk(bands, [&](const Matrix& channel, Index r, Index c, Index at) {
          filter.pilot(static_cast<Index>(m))[at] = static_cast<float>(channel(places[m].row + r, places[m].col + c));
        });
      filter.prepare(static_cast<Index>(places.size()), ridge_);
      Index observed = 0;
      walk(bands, [&](const Matrix& channel, Index r, Index c, Index at) {
        if (known_(here.row + r, here.col + c) == 0) return;
        filter.places()[observed] = static_cast<std::uint32_t>(at);
        filter.values()[observed++] = static_cast<float>(channel(here.row + r, here.col + c));
      });
      filter.fill(observed, ridge_);
      // The last bands may be in two sets: the later one counts.
      for (std::size_t k = 0; k < bands.size(); ++k)
        std::copy_n(filter.mean() + static_cast<Index>(k) * patch_ * patch_, patch_ * patch_,
                    means.begin() + bands[k] * patch_ * patch_);
    }
    return means;
  }

  void add(const Place& here, const std::vector<float>& means) {
    const double weight = static_cast<double>(known_in(here.row, here.col));
    weights_.block(here.row, here.col, patch_, patch_).array() += weight;
    const float* mean = means.data();
    for (Matrix& sums : sums_)
      for (Index r = 0; r < patch_; ++r)
        for (Index c = 0; c < patch_; ++c) sums(here.row + r, here.col + c) += weight * static_cast<double>(*mean++);
  }

  Index patch_;
  float ridge_;
  Picture& values_;
  Table<std::uint8_t> known_;
  std::vector<std::vector<Index>> sets_;  // of bands
  int threads_;
  Table<std::int32_t> known_sums_;
  std::vector<Matrix> sums_;
  Matrix weights_;
};

}  // namespace

Table<std::int32_t> depth_of_holes(const Picture& damaged) {
  const Index height = damaged.height(), width = damaged.width();
  const auto far = static_cast<std::int32_t>(std::max(height, width));
  Table<std::int32_t> depth(height, width);
  for (Index r = 0; r < height; ++r)
    for (Index c = 0; c < width; ++c)
      depth(r, c) = std::all_of(damaged.channels.begin(), damaged.channels.end(),
                                [&](const Matrix& channel) { return std::isnan(channel(r, c)); })
                        ? far
                        : 0;
  sweep(depth);
  return depth;
}

Table<std::uint8_t> deep_parts(const Table<std::int32_t>& depth, Index least) {
  const auto reach = static_cast<std::int32_t>(least);
  if (depth.maxCoeff() <= reach) return Table<std::uint8_t>::Zero(depth.rows(), depth.cols());
  const auto far = static_cast<std::int32_t>(std::max(depth.rows(), depth.cols()));
  Table<std::int32_t> distance =
      (depth.array() > reach).select(0, Table<std::int32_t>::Constant(depth.rows(), depth.cols(), far));
  sweep(distance);
  return (distance.array() <= reach).cast<std::uint8_t>();
}

int fill_deep_holes(const Picture& damaged, Index patch, double ridge, Picture& pilot,
                    const std::function<bool()>& stop_at, int threads) {
  const Table<std::uint8_t> deep = deep_for(damaged, patch);
  if (!deep.any()) return 0;
  HoleFilling holes(deep, patch, ridge, pilot, threads);
  int shells = 0;
  while (!holes.done()) {
    if (!holes.fill_shell(stop_at)) break;
    ++shells;
  }
  return shells;
}

double deep_hole_seconds(const Picture& damaged, Index patch, int threads) {
  const auto missing = static_cast<double>(deep_for(damaged, patch).count());
  if (missing == 0) return 0;
  const auto window = [](Index side, Index p) { return static_cast<double>(std::min(2 * kReach + 1, side - p + 1)); };
  // A patch is filled once for every shell it reaches into.
  const double patches = missing / (kStep * kStep) * (static_cast<double>(patch) / kShell + 1);
  const double bands = static_cast<double>(damaged.channels.size()), pixels = static_cast<double>(patch * patch);
  const double together = std::min(bands, 4.0), values = pixels * together;
  const double search =
      kCosts.hole_difference * window(damaged.height(), patch) * window(damaged.width(), patch) * pixels * bands;
  const double fill = kCosts.product * bands / together * values * values * values;
  return 1e-9 * patches * (search + fill) / thread_count(threads);
}

}  // namespace gsc
