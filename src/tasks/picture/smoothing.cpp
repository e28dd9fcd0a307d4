#include "tasks/picture/smoothing.h"

#include <algorithm>
#include <cmath>

#include "tasks/picture/parallel_rows.h"

namespace gsc {
namespace {

/// Where a place beyond a border is found in the mirror.
Index mirrored(Index i, Index size) {
  if (i < 0) i = -i;
  if (i >= size) i = 2 * size - 2 - i;
  return std::clamp<Index>(i, 0, size - 1);
}

}  // namespace

Picture smoothed(const Picture& picture, double pixels, int threads) {
  const auto reach = static_cast<Index>(std::ceil(3 * pixels));
  Vector kernel(2 * reach + 1);
  for (Index i = -reach; i <= reach; ++i)
    kernel[i + reach] = std::exp(-static_cast<double>(i * i) / (2 * pixels * pixels));
  kernel /= kernel.sum();
  Picture result;
  result.alpha = picture.alpha;
  result.depth = picture.depth;
  result.metadata = picture.metadata;
  for (const Matrix& channel : picture.channels) {
    const Index height = channel.rows(), width = channel.cols();
    Matrix& both = result.channels.emplace_back(height, width);
    // Columns x whose window lies within the row.
    const Index begin = std::min(reach, width), end = std::max(begin, width - reach);
    parallel_rows(height, width * kernel.size(), threads, [&](Index y) {
      Eigen::RowVectorXd down = Eigen::RowVectorXd::Zero(width);
      for (Index i = -reach; i <= reach; ++i) down += kernel[i + reach] * channel.row(mirrored(y + i, height));
      auto row = both.row(y);
      row.setZero();
      for (Index i = -reach; i <= reach; ++i) {
        const double share = kernel[i + reach];
        for (Index x = 0; x < begin; ++x) row[x] += share * down[mirrored(x + i, width)];
        if (begin < end) row.segment(begin, end - begin) += share * down.segment(begin + i, end - begin);
        for (Index x = end; x < width; ++x) row[x] += share * down[mirrored(x + i, width)];
      }
    });
  }
  return result;
}

}  // namespace gsc
