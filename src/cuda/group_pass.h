#pragma once
// Block matching and groups of patches on a device: the kernels in their order, over chunks of references. A window is
// some rows of a picture; what it gets for them does not depend on which rows are in the window beside those that
// their groups need, nor on the chunks.

#include <functional>
#include <vector>

#include "cuda/kernels/average_kernel.h"
#include "cuda/kernels/group_kernel.h"
#include "cuda/queue/queue.h"

namespace gsc::cuda {

/// Planes of floats on the host; rows are `stride` apart, and behind the last there is as much.
struct HostPlanes {
  std::vector<const float*> planes;
  long height = 0, width = 0, stride = 0;
};

/// Which patches, and how many that are alike, there is room for.
bool has_matches(int patch, int most);

class GroupPass {
 public:
  /// Groups of one size; GroupShape (inference/patch_device.h) tells what these are.
  struct Shape {
    int patch, members, most, reach, step;
    float variance, equal;
  };
  static bool has(const Queue& queue, const Shape& shape);

  explicit GroupPass(Queue& queue, long most_references);

  /// The picture's rows from `top` on, so many of them, are those that references and their members may have.
  /// `largest`: no value of noisy or pilot is further from zero.
  void begin(const HostPlanes& noisy, const HostPlanes& pilot, long top, long rows, float largest, bool with_variance);
  /// Adds groups of this size: the references that may touch rows first .. first+count-1, which results are for. Calls
  /// done(share) now and then.
  void add(const Shape& shape, long first, long count, const std::function<void(double)>& done);
  /// Results, planes as channels: rows x width each, one channel behind another. `variance` may be null.
  void end(float* mean, float* variance);

  /// Bytes on the device for each row of a window.
  static long row_bytes(long planes, long stride, long width);
  /// Bytes beside the window.
  long list_bytes() const { return most_references_ * (MatchKernel::kMost + 1) * 4; }

 private:
  void match(const Shape& shape, long columns, long first, long count);
  void filter(const Shape& shape, int from, int to, long count);

  Queue& queue_;
  long most_references_;
  WindowView window_{};
  float unit_ = 1;
  int sizes_ = 0;
  long rows_ = 0;
  bool with_variance_ = false;
  Array<float> noisy_, pilot_, mean_, variance_;
  Array<std::int64_t> sums_, weights_;
  Array<std::int32_t> places_, counts_;
};

/// The neighbours of patches at every position of a picture (tasks/groups/patch_neighbours.h).
class MatchPass {
 public:
  MatchPass(Queue& queue, const HostPlanes& pilot, int patch, int reach, int most, long most_references);
  /// Of patches first .. first+count-1, `most` numbers each, and how many they are.
  void find(long first, long count, std::int32_t* rows, std::int32_t* counts);

 private:
  Queue& queue_;
  int patch_, reach_, most_;
  long most_references_;
  WindowView window_{};
  Array<float> pilot_;
  Array<std::int32_t> places_, counts_;
};

}  // namespace gsc::cuda
