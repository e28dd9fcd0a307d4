#include "tasks/planes.h"

#include <cmath>

namespace gsc {
namespace {

/// Floats in the widest vector, and two of them are read at a time.
constexpr Index kSpare = 32;

const double kThird = 1 / std::sqrt(3.0), kHalf = 1 / std::sqrt(2.0), kSixth = 1 / std::sqrt(6.0);

}  // namespace

Planes::Planes(Index planes, Index height, Index width)
    : height_(height), width_(width), stride_((width + kSpare - 1) / kSpare * kSpare + kSpare) {
  planes_.assign(static_cast<std::size_t>(planes), std::vector<float>(static_cast<std::size_t>(stride_ * height), 0));
}

Planes::Planes(const Picture& picture, Colours colours)
    : Planes(static_cast<Index>(picture.channels.size()), picture.height(), picture.width()) {
  for (Index y = 0; y < height_; ++y) {
    if (size() != 3 || colours == Colours::kept) {
      for (Index p = 0; p < size(); ++p) {
        const Matrix& channel = picture.channels[static_cast<std::size_t>(p)];
        for (Index x = 0; x < width_; ++x) row(p, y)[x] = static_cast<float>(channel(y, x));
      }
      continue;
    }
    for (Index x = 0; x < width_; ++x) {
      const double r = picture.channels[0](y, x), g = picture.channels[1](y, x), b = picture.channels[2](y, x);
      row(0, y)[x] = static_cast<float>(kThird * (r + g + b));
      row(1, y)[x] = static_cast<float>(kHalf * (r - b));
      row(2, y)[x] = static_cast<float>(kSixth * (r - 2 * g + b));
    }
  }
}

PlanesView Planes::view() const {
  PlanesView view{.planes = {}, .height = height_, .width = width_, .stride = stride_};
  for (const std::vector<float>& plane : planes_) view.planes.push_back(plane.data());
  return view;
}

void to_channels(std::vector<Matrix>& planes) {
  if (planes.size() != 3) return;
  for (Index i = 0; i < planes[0].size(); ++i) {
    double &y = planes[0].data()[i], &u = planes[1].data()[i], &v = planes[2].data()[i];
    const double red = kThird * y + kHalf * u + kSixth * v, green = kThird * y - 2 * kSixth * v;
    const double blue = kThird * y - kHalf * u + kSixth * v;
    y = red;
    u = green;
    v = blue;
  }
}

}  // namespace gsc
