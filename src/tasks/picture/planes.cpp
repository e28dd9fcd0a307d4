#include "tasks/picture/planes.h"

#include <algorithm>
#include <cmath>

#include "tasks/picture/parallel_rows.h"

namespace gsc {
namespace {

/// Floats in the widest vector, and two of them are read at a time.
constexpr Index kSpare = 32;

Index stride_of(Index width) { return (width + kSpare - 1) / kSpare * kSpare + kSpare; }

const double kThird = 1 / std::sqrt(3.0), kHalf = 1 / std::sqrt(2.0), kSixth = 1 / std::sqrt(6.0);

}  // namespace

Planes::Planes(Index planes, Index height, Index width) : height_(height), width_(width), stride_(stride_of(width)) {
  for (Index p = 0; p < planes; ++p)
    planes_.push_back(std::make_unique<float[]>(static_cast<std::size_t>(stride_ * height)));
}

// Memory is first touched by the threads that fill it, which of a large picture takes as long as the rest.
Planes::Planes(const Picture& picture, Colours colours, int threads)
    : height_(picture.height()), width_(picture.width()), stride_(stride_of(width_)) {
  for (std::size_t p = 0; p < picture.channels.size(); ++p)
    planes_.push_back(std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(stride_ * height_)));
  const bool kept = size() != 3 || colours == Colours::kept;
  parallel_rows(height_, width_ * size(), threads, [&](Index y) {
    for (Index p = 0; p < size(); ++p) {
      std::fill(row(p, y) + width_, row(p, y) + stride_, 0.0F);
      const Matrix& channel = picture.channels[static_cast<std::size_t>(p)];
      for (Index x = 0; kept && x < width_; ++x) row(p, y)[x] = static_cast<float>(channel(y, x));
    }
    if (kept) return;
    float *brightness = row(0, y), *u = row(1, y), *v = row(2, y);
    for (Index x = 0; x < width_; ++x) {
      const double r = picture.channels[0](y, x), g = picture.channels[1](y, x), b = picture.channels[2](y, x);
      brightness[x] = static_cast<float>(kThird * (r + g + b));
      u[x] = static_cast<float>(kHalf * (r - b));
      v[x] = static_cast<float>(kSixth * (r - 2 * g + b));
    }
  });
}

PlanesView Planes::view() const {
  PlanesView view{.planes = {}, .height = height_, .width = width_, .stride = stride_};
  for (const auto& plane : planes_) view.planes.push_back(plane.get());
  return view;
}

float Planes::largest(int threads) const {
  Eigen::ArrayXf largest = Eigen::ArrayXf::Zero(height_);
  parallel_rows(height_, width_ * size(), threads, [&](Index y) {
    for (Index p = 0; p < size(); ++p) {
      const Eigen::Map<const Eigen::ArrayXf> values(row(p, y), width_);
      largest[y] = std::max(largest[y], values.abs().maxCoeff<Eigen::PropagateNumbers>());  // in vectors
    }
  });
  return largest.maxCoeff();
}

void to_channels(std::vector<Matrix>& planes, int threads) {
  if (planes.size() != 3) return;
  const Index width = planes[0].cols();
  parallel_rows(planes[0].rows(), 3 * width, threads, [&](Index row) {
    for (Index x = 0; x < width; ++x) {
      double &y = planes[0](row, x), &u = planes[1](row, x), &v = planes[2](row, x);
      const double red = kThird * y + kHalf * u + kSixth * v, green = kThird * y - 2 * kSixth * v;
      const double blue = kThird * y - kHalf * u + kSixth * v;
      y = red;
      u = green;
      v = blue;
    }
  });
}

}  // namespace gsc
