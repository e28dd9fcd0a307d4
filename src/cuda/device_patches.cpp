#include "cuda/device_patches.h"

#include <gsc/inference.h>

#include <algorithm>
#include <cmath>

namespace gsc::cuda {
namespace {

HostPlanes on_host(const PlanesView& view) { return {view.planes, view.height, view.width, view.stride}; }

GroupPass::Shape shape_of(const GroupShape& shape) {
  return {.patch = static_cast<int>(shape.patch),
          .members = static_cast<int>(shape.members),
          .most = static_cast<int>(shape.most),
          .reach = static_cast<int>(shape.reach),
          .step = static_cast<int>(shape.step),
          .variance = shape.variance,
          .equal = shape.equal};
}

class DeviceSearch final : public PatchSearch {
 public:
  DeviceSearch(Queue& queue, const PlanesView& pilot, Index patch, Index reach, Index most, long references)
      : pass_(queue, on_host(pilot), static_cast<int>(patch), static_cast<int>(reach), static_cast<int>(most),
              references) {}
  void find(Index first, Index count, std::uint32_t* rows, std::int32_t* counts) override {
    pass_.find(first, count, reinterpret_cast<std::int32_t*>(rows), counts);
  }

 private:
  MatchPass pass_;
};

}  // namespace

bool DevicePatches::has(std::span<const GroupShape> sizes) const {
  return std::all_of(sizes.begin(), sizes.end(),
                     [&](const GroupShape& size) { return GroupPass::has(queue_, shape_of(size)); });
}

void DevicePatches::filter_groups(const PlanesView& noisy, const PlanesView& pilot, float largest,
                                  std::span<const GroupShape> sizes, float* mean, float* variance,
                                  const std::function<bool(double)>& stop_at) {
  Index around = 0;  // rows beyond a strip that its groups need
  for (const GroupShape& size : sizes) around = std::max(around, 2 * (size.reach + size.patch));
  const Index height = noisy.height, width = noisy.width, planes = static_cast<Index>(noisy.planes.size());
  GroupPass pass(queue_, limits_.references);
  Index strip = limits_.strip_rows;
  if (strip == 0) {
    const auto free = static_cast<Index>(queue_.memory().free / 10 * 8);
    const Index rows = (free - pass.list_bytes()) / GroupPass::row_bytes(planes, noisy.stride, width);
    constexpr Index kMostPixels = Index{1} << 30U;  // places are whole numbers of 32 bits
    strip = std::max<Index>(std::min(rows, kMostPixels / noisy.stride) - 2 * around, 16);
  }
  std::vector<float> part_mean, part_variance;
  const Index strips = (height + strip - 1) / strip;
  const double steps = static_cast<double>(strips) * static_cast<double>(sizes.size());
  double step = 0;
  for (Index first = 0; first < height; first += strip) {
    const Index count = std::min(strip, height - first);
    const Index top = std::max<Index>(0, first - around), bottom = std::min(height, first + count + around);
    pass.begin(on_host(noisy), on_host(pilot), top, bottom - top, largest, variance != nullptr);
    for (const GroupShape& size : sizes) {
      pass.add(shape_of(size), first, count, [&](double share) {
        if (stop_at && stop_at((step + share) / steps)) throw Interrupted("interrupted while denoising");
      });
      step += 1;
    }
    if (count == height) {
      pass.end(mean, variance);
      return;
    }
    const auto numbers = static_cast<std::size_t>(planes * count * width);
    part_mean.resize(numbers);
    if (variance != nullptr) part_variance.resize(numbers);
    pass.end(part_mean.data(), variance != nullptr ? part_variance.data() : nullptr);
    const auto put = [&](const std::vector<float>& part, float* whole) {
      for (Index p = 0; p < planes; ++p)
        std::copy_n(part.data() + p * count * width, count * width, whole + (p * height + first) * width);
    };
    put(part_mean, mean);
    if (variance != nullptr) put(part_variance, variance);
  }
}

std::unique_ptr<PatchSearch> DevicePatches::search(const PlanesView& pilot, Index patch, Index reach, Index most) {
  if (!has_matches(static_cast<int>(patch), static_cast<int>(most))) return nullptr;
  return std::make_unique<DeviceSearch>(queue_, pilot, patch, reach, most, limits_.references);
}

}  // namespace gsc::cuda
