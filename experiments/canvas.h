#pragma once
// Dots and lines in a picture, for what charts of the report cannot draw.

#include <gsc/picture.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace gsc::experiments {

/// A square picture of [-range, range] x [-range, range], white at first; x to the right, y upwards.
class Canvas {
 public:
  using Colour = std::array<double, 3>;
  static constexpr Colour kGrey{120, 120, 120}, kBlue{30, 90, 200}, kRed{210, 40, 40}, kAxes{170, 170, 170};
  static constexpr Index kSide = 301;

  explicit Canvas(double range) : range_(range) { picture_.channels.assign(3, Matrix::Constant(kSide, kSide, 255)); }
  double x_of(Index column) const { return range_ * (2 * static_cast<double>(column) / (kSide - 1) - 1); }
  double y_of(Index row) const { return -x_of(row); }

  void dot(double x, double y, Index radius, const Colour& colour) {
    const auto column = static_cast<Index>(std::lround((x / range_ + 1) / 2 * (kSide - 1)));
    const auto row = static_cast<Index>(std::lround((1 - y / range_) / 2 * (kSide - 1)));
    for (Index r = std::max<Index>(0, row - radius); r <= std::min(kSide - 1, row + radius); ++r)
      for (Index c = std::max<Index>(0, column - radius); c <= std::min(kSide - 1, column + radius); ++c)
        for (std::size_t k = 0; k < 3; ++k) picture_.channels[k](r, c) = colour[k];
  }
  /// From the origin.
  void line(double x, double y, const Colour& colour) {
    for (Index i = 0; i <= kSide; ++i) {
      const double part = static_cast<double>(i) / kSide;
      dot(part * x, part * y, 1, colour);
    }
  }
  /// Through the origin, dotted, over what is there.
  void axes() {
    for (Index i = 0; i < kSide; i += 4)
      for (std::size_t k = 0; k < 3; ++k)
        picture_.channels[k](i, kSide / 2) = picture_.channels[k](kSide / 2, i) = kAxes[k];
  }
  /// Replaces all by this, 0 (white) to 1 (black).
  void shade(const Matrix& darkness) {
    for (Matrix& channel : picture_.channels) channel = 255 * (1 - darkness.array());
  }
  const Picture& picture() const { return picture_; }

 private:
  double range_;
  Picture picture_;
};

}  // namespace gsc::experiments
