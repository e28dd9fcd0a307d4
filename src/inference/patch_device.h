#pragma once
// Where work on the patches of a picture may be done other than on the processor: looking for patches that are alike,
// and groups of them (tasks/groups/patch_groups.h). Engines on such devices have one of these (Engine::patches).

#include <gsc/export.h>
#include <gsc/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace gsc {

/// A picture as planes of floats; rows are `stride` numbers apart, and there is as much behind the last.
struct PlanesView {
  std::vector<const float*> planes;
  Index height = 0, width = 0, stride = 0;
};

/// Groups of one size: as GroupSize and GroupOptions have it.
struct GroupShape {
  Index patch = 8, members = 32, most = 32;  ///< most: at least `members`
  Index reach = 15, step = 3;
  float variance = 0;  ///< of the noise
  float equal = 0;     ///< patches nearer than this (sum of squares) are as good as equal
};

/// Looks for the neighbours of patches at every position of a picture.
class GSC_EXPORT PatchSearch {
 public:
  virtual ~PatchSearch() = default;
  /// Of patches first .. first+count-1, in the order of their positions: `most` rows each, nearest first, and how many.
  virtual void find(Index first, Index count, std::uint32_t* rows, std::int32_t* counts) = 0;
};

class GSC_EXPORT PatchDevice {
 public:
  virtual ~PatchDevice() = default;
  /// Whether it can do groups like these.
  virtual bool has(std::span<const GroupShape> sizes) const = 0;
  /// One round of groups: channel by channel, height x width, the mean of the results of the sizes and, unless null,
  /// their variance. Three planes are Y, U and V (tasks/picture/planes.h) and become red, green and blue. Asks stop_at(share
  /// done) now and then; throws Interrupted if that returns true. `largest`: of the absolute values of both.
  virtual void filter_groups(const PlanesView& noisy, const PlanesView& pilot, float largest,
                             std::span<const GroupShape> sizes, float* mean, float* variance,
                             const std::function<bool(double)>& stop_at) = 0;
  /// `most` neighbours of patches of patch x patch pixels, at most `reach` away in each direction; null if it cannot.
  virtual std::unique_ptr<PatchSearch> search(const PlanesView& pilot, Index patch, Index reach, Index most) = 0;
};

}  // namespace gsc
