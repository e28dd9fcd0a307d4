#include "tasks/smoothing.h"

#include <algorithm>
#include <cmath>

namespace gsc {

Picture smoothed(const Picture& picture, double pixels) {
  const auto reach = static_cast<Index>(std::ceil(3 * pixels));
  Vector kernel(2 * reach + 1);
  for (Index i = -reach; i <= reach; ++i)
    kernel[i + reach] = std::exp(-static_cast<double>(i * i) / (2 * pixels * pixels));
  kernel /= kernel.sum();
  const auto mirrored = [](Index i, Index size) {
    if (i < 0) i = -i;
    if (i >= size) i = 2 * size - 2 - i;
    return std::clamp<Index>(i, 0, size - 1);
  };
  Picture result = picture;
  for (Matrix& channel : result.channels) {
    Matrix rows = Matrix::Zero(channel.rows(), channel.cols()), both = rows;
    for (Index i = -reach; i <= reach; ++i)
      for (Index y = 0; y < channel.rows(); ++y)
        rows.row(y) += kernel[i + reach] * channel.row(mirrored(y + i, channel.rows()));
    for (Index i = -reach; i <= reach; ++i)
      for (Index x = 0; x < channel.cols(); ++x)
        both.col(x) += kernel[i + reach] * rows.col(mirrored(x + i, channel.cols()));
    channel = both;
  }
  return result;
}

}  // namespace gsc
