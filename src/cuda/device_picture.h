#pragma once
// A picture on the device, and its patches as rows of data, cut out where they are needed.

#include "cuda/kernels/patch_kernels.h"
#include "cuda/queue/queue.h"
#include "inference/patch_layout.h"

namespace gsc::cuda {

class DevicePicture {
 public:
  DevicePicture(Queue& queue, const PatchLayout& layout);

  /// Rows first .. first+count-1, less the origin (on the device), behind one another.
  template <class Real>
  void cut(long first, long count, const double* origin, Real* rows);

  PatchView view() const;
  long pixels() const { return static_cast<long>(view_.height) * view_.width; }
  bool listed() const { return corners_.size() > 0; }  ///< not a grid
  int dimensions() const { return view_.patch * view_.patch * view_.channels; }

 private:
  Queue& queue_;
  Array<double> values_;
  Array<std::uint32_t> corners_;
  PatchView view_;
};

}  // namespace gsc::cuda
