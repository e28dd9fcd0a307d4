#include "tasks/picture/scales.h"

#include <algorithm>
#include <cmath>

#include "tasks/picture/smoothing.h"

namespace gsc {
namespace {

Matrix halved(const Matrix& pixels) {
  Matrix result((pixels.rows() + 1) / 2, (pixels.cols() + 1) / 2);
  for (Index y = 0; y < result.rows(); ++y)
    for (Index x = 0; x < result.cols(); ++x) {
      const Index below = std::min(2 * y + 1, pixels.rows() - 1), right = std::min(2 * x + 1, pixels.cols() - 1);
      result(y, x) = (pixels(2 * y, 2 * x) + pixels(2 * y, right) + pixels(below, 2 * x) + pixels(below, right)) / 4;
    }
  return result;
}

/// Where pixel i of the large picture lies between two of the small one: weight of the second.
struct Between {
  Index first, second;
  double weight;
};
Between between(Index i, Index size) {
  const double at = (static_cast<double>(i) - 0.5) / 2;
  const auto first = static_cast<Index>(std::floor(at));
  return {std::max<Index>(first, 0), std::min(first + 1, size - 1), at - static_cast<double>(first)};
}

}  // namespace

Picture halved(const Picture& picture) {
  Picture result;
  result.depth = picture.depth;
  for (const Matrix& channel : picture.channels) result.channels.push_back(halved(channel));
  return result;
}

void add_coarse(const Picture& coarse, double share, Picture& picture) {
  constexpr double kSmoothing = 1;  // pixels of the small picture
  Picture change = halved(picture);
  for (std::size_t c = 0; c < change.channels.size(); ++c)
    change.channels[c] = share * (coarse.channels[c] - change.channels[c]);
  change = smoothed(change, kSmoothing);
  for (std::size_t c = 0; c < picture.channels.size(); ++c) {
    Matrix& pixels = picture.channels[c];
    const Matrix& small = change.channels[c];
    for (Index y = 0; y < pixels.rows(); ++y) {
      const Between v = between(y, small.rows());
      const Eigen::RowVectorXd row = (1 - v.weight) * small.row(v.first) + v.weight * small.row(v.second);
      for (Index x = 0; x < pixels.cols(); ++x) {
        const Between h = between(x, small.cols());
        pixels(y, x) += (1 - h.weight) * row[h.first] + h.weight * row[h.second];
      }
    }
  }
}

}  // namespace gsc
