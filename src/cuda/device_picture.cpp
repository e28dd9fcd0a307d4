// Compiled by nvcc for the GPU, and by the C++ compiler on the emulation for the tests.

#include "cuda/device_picture.h"

namespace gsc::cuda {

DevicePicture::DevicePicture(Queue& queue, const PatchLayout& layout) : queue_(queue), view_{} {
  view_.channels = static_cast<int>(layout.channels.size());
  view_.height = static_cast<int>(layout.height);
  view_.width = static_cast<int>(layout.width);
  view_.patch = static_cast<int>(layout.patch);
  view_.stride = static_cast<int>(layout.stride);
  view_.columns = layout.columns;
  view_.remove_mean = layout.remove_mean;
  const auto plane = static_cast<std::size_t>(pixels());
  values_ = Array<double>(queue, plane * layout.channels.size());
  for (std::size_t k = 0; k < layout.channels.size(); ++k)
    queue.upload(values_.data() + k * plane, layout.channels[k], plane * sizeof(double));
  corners_ = Array<std::uint32_t>(queue, layout.corners.size());
  if (!layout.corners.empty()) corners_.upload(layout.corners);
}

PatchView DevicePicture::view() const {
  PatchView view = view_;
  view.values = values_.data();
  view.corners = corners_.data();
  return view;
}

template <class Real>
void DevicePicture::cut(long first, long count, const double* origin, Real* rows) {
  queue_.launch("patches", count, 0, CutKernel<Real>{view(), first, origin, rows});
}

template void DevicePicture::cut(long, long, const double*, float*);
template void DevicePicture::cut(long, long, const double*, double*);

}  // namespace gsc::cuda
