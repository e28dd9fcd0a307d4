#include <gsc/metrics.h>
#include <gsc/words.h>

#include <Eigen/LU>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "tasks/picture/pixel_units.h"

namespace gsc {
namespace {

std::string shape_text(const Picture& picture) {
  return size_text(picture) + " pixels in " + counted(static_cast<Index>(picture.channels.size()), "channel");
}

void require_same_shape(const Picture& truth, const Picture& picture) {
  if (truth.height() != picture.height() || truth.width() != picture.width() ||
      truth.channels.size() != picture.channels.size())
    throw Error("pictures of different shape cannot be compared: " + shape_text(truth) + " and " + shape_text(picture) +
                "; crop or convert one of them first");
  if (truth.height() == 0 || truth.width() == 0) throw Error("pictures without pixels cannot be compared");
}

constexpr Index kWindow = 11, kCentre = 5;

std::array<double, kWindow> gaussian_window() {
  constexpr double kStd = 1.5;
  std::array<double, kWindow> window{};
  double sum = 0;
  for (Index i = 0; i < kWindow; ++i) {
    const double x = static_cast<double>(i - kCentre);
    sum += window[static_cast<std::size_t>(i)] = std::exp(-x * x / (2 * kStd * kStd));
  }
  for (double& weight : window) weight /= sum;
  return window;
}

/// Mean over all windows inside the picture of
///   (2 mx my + C1)(2 sxy + C2) / ((mx^2 + my^2 + C1)(sx^2 + sy^2 + C2)),    C1 = (0.01 peak)^2, C2 = (0.03 peak)^2,
/// where m, s^2, sxy are means, variances, covariance under the window. The window is a product of one along the row
/// and one along the column. Rows that are already averaged along themselves are kept for as long as windows need them,
/// so memory grows with the width only.
double channel_ssim(const Matrix& x, const Matrix& y, double peak) {
  using Row = Eigen::Array<double, 1, Eigen::Dynamic>;
  const std::array<double, kWindow> window = gaussian_window();
  const Index width = x.cols() - kWindow + 1, height = x.rows() - kWindow + 1;
  const double c1 = 0.01 * 0.01 * peak * peak, c2 = 0.03 * 0.03 * peak * peak;

  enum { kX, kY, kXX, kYY, kXY, kCount };
  using Rows = std::array<Row, kCount>;
  std::array<Rows, kWindow> kept;
  double sum = 0;
  for (Index i = 0; i < x.rows(); ++i) {
    const Row xi = x.row(i).array(), yi = y.row(i).array();
    const Rows products = {xi, yi, xi * xi, yi * yi, xi * yi};
    Rows& along = kept[static_cast<std::size_t>(i % kWindow)];
    for (std::size_t q = 0; q < kCount; ++q) {
      along[q] = Row::Zero(width);
      for (Index t = 0; t < kWindow; ++t)
        along[q] += window[static_cast<std::size_t>(t)] * products[q].segment(t, width);
    }
    if (i < kWindow - 1) continue;

    Rows m;
    for (std::size_t q = 0; q < kCount; ++q) {
      m[q] = Row::Zero(width);
      for (Index t = 0; t < kWindow; ++t)
        m[q] += window[static_cast<std::size_t>(t)] * kept[static_cast<std::size_t>((i + 1 + t) % kWindow)][q];
    }
    sum += ((2 * m[kX] * m[kY] + c1) * (2 * (m[kXY] - m[kX] * m[kY]) + c2) /
            ((m[kX].square() + m[kY].square() + c1) * (m[kXX] - m[kX].square() + m[kYY] - m[kY].square() + c2)))
               .sum();
  }
  return sum / (static_cast<double>(width) * static_cast<double>(height));
}

}  // namespace

// 10 log10( peak^2 / mean squared difference )
double psnr(const Picture& truth, const Picture& picture, double peak) {
  require_same_shape(truth, picture);
  double squares = 0, count = 0;
  for (std::size_t k = 0; k < truth.channels.size(); ++k) {
    squares += (truth.channels[k] - picture.channels[k]).squaredNorm();
    count += static_cast<double>(truth.channels[k].size());
  }
  if (squares == 0) return std::numeric_limits<double>::infinity();
  return 10 * std::log10(peak * peak * count / squares);
}

double ssim(const Picture& truth, const Picture& picture, double peak) {
  require_same_shape(truth, picture);
  if (truth.height() < kWindow || truth.width() < kWindow)
    throw Error("SSIM needs pictures of at least 11 x 11 pixels; these have " + shape_text(truth));
  double sum = 0;
  for (std::size_t k = 0; k < truth.channels.size(); ++k)
    sum += channel_ssim(truth.channels[k], picture.channels[k], peak);
  return sum / static_cast<double>(truth.channels.size());
}

// 1/(2H(H-1)) sum_hh' ( |O_hh'| / max_h'' |O_hh''| + |O_hh'| / max_h'' |O_h''h'| ) - 1/(H-1),    O = W^-1 W_gen
double amari_index(const Matrix& learned, const Matrix& generating) {
  const Index latents = learned.cols();
  if (learned.rows() != latents || generating.rows() != latents || generating.cols() != latents || latents == 0)
    throw Error("the Amari index needs two square matrices of the same size; these are " +
                std::to_string(learned.rows()) + " x " + std::to_string(learned.cols()) + " and " +
                std::to_string(generating.rows()) + " x " + std::to_string(generating.cols()));
  for (const auto& [name, matrix] : {std::pair{"learned", &learned}, std::pair{"generating", &generating}})
    if (!matrix->allFinite())
      throw Error("the " + std::string(name) +
                  " mixing matrix holds NaN or infinity, so its Amari index is not defined");
  // A latent that has died has no direction. The index does not depend on the common scale, which could overflow.
  const Vector lengths = learned.cwiseAbs().colwise().maxCoeff().transpose();
  const double longest = lengths.maxCoeff();
  const bool dead = !(lengths.minCoeff() > 1e-100 * longest);
  const Eigen::FullPivLU<Matrix> lu(dead ? learned : Matrix(learned / longest));
  if (dead || !lu.isInvertible())
    throw Error("the learned mixing matrix has no inverse, so its Amari index is not defined; learn with another seed");
  const Eigen::ArrayXXd o = lu.solve(generating).array().abs();
  const Eigen::ArrayXd of_row = o.rowwise().maxCoeff();
  const Eigen::Array<double, 1, Eigen::Dynamic> of_col = o.colwise().maxCoeff();
  if (!(of_row.minCoeff() > 0 && of_col.minCoeff() > 0))
    throw Error(
        "the generating mixing matrix lacks a direction (a column of zeros, or all columns in a plane), so the "
        "Amari index is not defined");
  if (latents == 1) return 0;
  const double h = static_cast<double>(latents);
  const double ratios = (o.colwise() / of_row).sum() + (o.rowwise() / of_col).sum();
  return std::max(0.0, ratios / (2 * h * (h - 1)) - 1 / (h - 1));
}

}  // namespace gsc
