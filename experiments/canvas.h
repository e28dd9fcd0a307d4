#pragma once
// Dots and lines in a picture, for what charts of the report cannot draw.

#include <gsc/picture.h>

#include <array>

namespace gsc::experiments {

/// A square picture of [-range, range] x [-range, range], white at first; x to the right, y upwards.
class Canvas {
 public:
  using Colour = std::array<double, 3>;
  static constexpr Colour kGrey{120, 120, 120}, kBlue{30, 90, 200}, kRed{210, 40, 40}, kAxes{170, 170, 170};
  static constexpr Index kSide = 301;

  explicit Canvas(double range);
  double x_of(Index column) const { return range_ * (2 * static_cast<double>(column) / (kSide - 1) - 1); }
  double y_of(Index row) const { return -x_of(row); }

  void dot(double x, double y, Index radius, const Colour& colour);
  void line(double x, double y, const Colour& colour);  ///< from the origin
  void axes();                                          ///< through the origin, dotted, over what is there
  void shade(const Matrix& darkness);                   ///< replaces all by this, 0 (white) to 1 (black)
  const Picture& picture() const { return picture_; }

 private:
  double range_;
  Picture picture_;
};

}  // namespace gsc::experiments
