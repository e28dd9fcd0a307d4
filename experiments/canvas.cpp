#include "canvas.h"

#include <algorithm>
#include <cmath>

namespace gsc::experiments {

Canvas::Canvas(double range) : range_(range) { picture_.channels.assign(3, Matrix::Constant(kSide, kSide, 255)); }

void Canvas::dot(double x, double y, Index radius, const Colour& colour) {
  const auto column = static_cast<Index>(std::lround((x / range_ + 1) / 2 * (kSide - 1)));
  const auto row = static_cast<Index>(std::lround((1 - y / range_) / 2 * (kSide - 1)));
  for (Index r = std::max<Index>(0, row - radius); r <= std::min(kSide - 1, row + radius); ++r)
    for (Index c = std::max<Index>(0, column - radius); c <= std::min(kSide - 1, column + radius); ++c)
      for (std::size_t k = 0; k < 3; ++k) picture_.channels[k](r, c) = colour[k];
}

void Canvas::line(double x, double y, const Colour& colour) {
  for (Index i = 0; i <= kSide; ++i) {
    const double part = static_cast<double>(i) / kSide;
    dot(part * x, part * y, 1, colour);
  }
}

void Canvas::axes() {
  for (Index i = 0; i < kSide; i += 4)
    for (std::size_t k = 0; k < 3; ++k)
      picture_.channels[k](i, kSide / 2) = picture_.channels[k](kSide / 2, i) = kAxes[k];
}

void Canvas::shade(const Matrix& darkness) {
  for (Matrix& channel : picture_.channels) channel = 255 * (1 - darkness.array());
}

}  // namespace gsc::experiments
