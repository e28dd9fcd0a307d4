// A first guess at the missing values of a picture, good for any hole: normalised convolution at growing scales. With a
// mask m (1 where observed) and a Gaussian g of s pixels,
//
//   x = (g * (m y)) / (g * m)        where g * m is at least a little; s = 0.7, 1, 1.4, 2, ... until nothing is missing
//
// Values that a small scale has filled count as observed for all larger ones, so holes are filled from the outside in.

#include <gsc/inpaint.h>

#include <algorithm>
#include <cmath>

#include "tasks/picture/smoothing.h"

namespace gsc {
namespace {

/// Less weight than that of an observed value two deviations away is none.
constexpr double kLeastWeight = 0.02;
constexpr double kFirstScale = 0.7, kGrowth = 1.4142135623730951;

Picture of_channel(const Matrix& values) {
  Picture picture;
  picture.channels = {values};
  picture.depth = PixelDepth::real32;
  return picture;
}

/// Fills all NaN; there is a number somewhere.
void fill(Matrix& channel) {
  const double largest = static_cast<double>(std::max(channel.rows(), channel.cols()));
  for (double scale = kFirstScale; channel.hasNaN(); scale *= kGrowth) {
    const Matrix known = channel.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : 1.0; });
    const Matrix zeros = channel.unaryExpr([](double value) { return std::isnan(value) ? 0.0 : value; });
    const Matrix sums = smoothed(of_channel(zeros), scale).channels[0];
    const Matrix weights = smoothed(of_channel(known), scale).channels[0];
    // In units of the kernel's centre, which a single value has.
    const double least = scale > largest ? 0 : kLeastWeight / std::max(1.0, 6.3 * scale * scale);
    for (Index i = 0; i < channel.size(); ++i)
      if (std::isnan(channel.data()[i]) && weights.data()[i] > least)
        channel.data()[i] = sums.data()[i] / weights.data()[i];
  }
}

}  // namespace

Index missing_values(const Picture& picture) {
  Index count = 0;
  for (const Matrix& channel : picture.channels) count += channel.array().isNaN().count();
  return count;
}

Picture first_guess(const Picture& damaged) {
  Picture result = damaged;
  double sum = 0, count = 0;
  for (const Matrix& channel : damaged.channels)
    for (const double value : channel.reshaped())
      if (!std::isnan(value)) {
        sum += value;
        count += 1;
      }
  if (count == 0) throw Error("every value of the picture is missing, so there is nothing to fill it from");
  for (Matrix& channel : result.channels) {
    if (!channel.array().isNaN().all())
      fill(channel);
    else
      channel.setConstant(sum / count);
  }
  return result;
}

}  // namespace gsc
