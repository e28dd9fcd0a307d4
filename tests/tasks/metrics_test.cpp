// PSNR, SSIM and the Amari index against values by hand and against plain implementations of their formulas.

#include <gsc/metrics.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "expect_error.h"

namespace gsc::test {
namespace {

Picture picture_of(std::vector<Matrix> channels) {
  Picture picture;
  picture.channels = std::move(channels);
  return picture;
}

Matrix random_matrix(Index rows, Index cols, Random& random, double low = 0, double high = 255) {
  std::uniform_real_distribution<double> uniform(low, high);
  return Matrix::NullaryExpr(rows, cols, [&] { return uniform(random); });
}

TEST(Psnr, ByHand) {
  Random random(1);
  const Matrix x = random_matrix(6, 7, random);
  EXPECT_NEAR(psnr(picture_of({x}), picture_of({x.array() + 5}), 255), 20 * std::log10(255.0 / 5), 1e-12);
  EXPECT_NEAR(psnr(picture_of({x}), picture_of({x.array() - 5}), 65535), 20 * std::log10(65535.0 / 5), 1e-12);
  EXPECT_EQ(psnr(picture_of({x}), picture_of({x}), 255), std::numeric_limits<double>::infinity());
  // Mean of squares over all channels together: (0 + 9 + 36) / 3 = 15.
  EXPECT_NEAR(psnr(picture_of({x, x, x}), picture_of({x, x.array() + 3, x.array() - 6}), 255),
              10 * std::log10(255.0 * 255 / 15), 1e-12);
}

/// The formula of the paper, window by window: weighted means first, then (co)variances about them.
double plain_ssim(const Matrix& x, const Matrix& y, double peak) {
  constexpr Index kSize = 11;
  Matrix window(kSize, kSize);
  for (Index i = 0; i < kSize; ++i)
    for (Index j = 0; j < kSize; ++j)
      window(i, j) = std::exp(-static_cast<double>((i - 5) * (i - 5) + (j - 5) * (j - 5)) / (2 * 1.5 * 1.5));
  window /= window.sum();
  const double c1 = std::pow(0.01 * peak, 2), c2 = std::pow(0.03 * peak, 2);
  double sum = 0, count = 0;
  for (Index i = 0; i + kSize <= x.rows(); ++i)
    for (Index j = 0; j + kSize <= x.cols(); ++j, ++count) {
      const Matrix a = x.block(i, j, kSize, kSize), b = y.block(i, j, kSize, kSize);
      const double ma = window.cwiseProduct(a).sum(), mb = window.cwiseProduct(b).sum();
      const Matrix da = a.array() - ma, db = b.array() - mb;
      const double va = window.cwiseProduct(da.cwiseAbs2()).sum(), vb = window.cwiseProduct(db.cwiseAbs2()).sum();
      const double cov = window.cwiseProduct(da.cwiseProduct(db)).sum();
      sum += (2 * ma * mb + c1) / (ma * ma + mb * mb + c1) * (2 * cov + c2) / (va + vb + c2);
    }
  return sum / count;
}

TEST(Ssim, EqualsThePlainFormula) {
  Random random(2);
  for (const auto& [rows, cols] : {std::pair<Index, Index>{11, 11}, {11, 30}, {30, 11}, {25, 37}}) {
    const Matrix x = random_matrix(rows, cols, random), y = x + random_matrix(rows, cols, random, -80, 80);
    const Matrix z = random_matrix(rows, cols, random), w = z / 3;
    EXPECT_NEAR(ssim(picture_of({x}), picture_of({y}), 255), plain_ssim(x, y, 255), 1e-12);
    EXPECT_NEAR(ssim(picture_of({x, z, x}), picture_of({y, w, x}), 300),
                (plain_ssim(x, y, 300) + plain_ssim(z, w, 300) + 1) / 3, 1e-12);
  }
}

TEST(Ssim, ByHand) {
  Random random(3);
  const Matrix x = random_matrix(20, 22, random);
  EXPECT_NEAR(ssim(picture_of({x}), picture_of({x}), 255), 1, 1e-14);
  // Constant pictures have no variance: (2 a b + C1) / (a^2 + b^2 + C1).
  const Matrix a = Matrix::Constant(15, 15, 100), b = Matrix::Constant(15, 15, 120);
  const double c1 = 2.55 * 2.55;
  EXPECT_NEAR(ssim(picture_of({a}), picture_of({b}), 255), (24000 + c1) / (24400 + c1), 1e-9);
  EXPECT_LT(ssim(picture_of({x}), picture_of({255 - x.array()}), 255), 0);
}

TEST(Metrics, PicturesThatCannotBeCompared) {
  const Matrix a = Matrix::Zero(12, 12), b = Matrix::Zero(12, 13), small = Matrix::Zero(12, 10);
  for (const auto& metric : {psnr, ssim}) {
    const auto refused = [&](const Picture& truth, const Picture& picture, Parts parts) {
      expect_error<Error>([&] { metric(truth, picture, 255); }, parts);
    };
    refused(picture_of({a}), picture_of({b}), {"12 x 12 pixels in 1 channel", "13 x 12 pixels", "crop or convert"});
    refused(picture_of({a}), picture_of({a, a, a}), {"12 x 12 pixels in 1 channel and", "in 3 channels"});
    refused(Picture{}, Picture{}, {"pictures without pixels"});
  }
  expect_error<Error>([&] { ssim(picture_of({small}), picture_of({small}), 255); },
                      {"at least 11 x 11 pixels", "these have 10 x 12"});
}

TEST(Amari, ZeroForTheTruthInAnyOrderAndScale) {
  Random random(4);
  for (const Index h : {Index{1}, Index{2}, Index{5}, Index{12}}) {
    const Matrix truth = random_matrix(h, h, random, -1, 1);
    Matrix learned(h, h);
    for (Index i = 0; i < h; ++i) learned.col(i) = truth.col((i + 1) % h) * (i % 2 == 0 ? -3.0 : 0.01);
    EXPECT_NEAR(amari_index(learned, truth), 0, 1e-12) << h;
    EXPECT_NEAR(amari_index(truth, truth), 0, 1e-12) << h;
  }
}

TEST(Amari, ByHand) {
  // O = generating, as W = 1: [1 2; 3 4]. Rows: 1/2 + 1 + 3/4 + 1; columns: 1/3 + 1/2 + 1 + 1; the sum over 2 H (H-1) =
  // 4, less 1/(H-1) = 1.
  const Matrix identity = Matrix::Identity(2, 2), o{{1, 2}, {3, 4}};
  const double expected = (0.5 + 1 + 0.75 + 1 + 1.0 / 3 + 0.5 + 1 + 1) / 4 - 1;
  EXPECT_NEAR(amari_index(identity, o), expected, 1e-14);
  const Matrix w{{2, 1}, {-1, 5}};
  EXPECT_NEAR(amari_index(w, w * o), expected, 1e-13);
  EXPECT_NEAR(amari_index(identity, Matrix{{1, -1}, {1, 1}}), 1, 1e-14);  // the worst there is
}

TEST(Amari, Errors) {
  const Matrix identity = Matrix::Identity(3, 3);
  const auto refused = [](const Matrix& learned, const Matrix& generating, Parts parts) {
    expect_error<Error>([&] { amari_index(learned, generating); }, parts);
  };
  refused(identity, Matrix::Identity(2, 2), {"two square matrices", "3 x 3 and 2 x 2"});
  refused(Matrix::Zero(3, 2), Matrix::Zero(3, 2), {"two square matrices", "3 x 2 and 3 x 2"});
  refused(Matrix(), Matrix(), {"two square matrices", "0 x 0 and 0 x 0"});
  refused(Matrix::Ones(3, 3), identity, {"learned mixing matrix has no inverse", "another seed"});
  Matrix dead = identity;
  dead(1, 1) = 1e-314;  // a latent that has died: its direction means nothing
  refused(dead, identity, {"learned mixing matrix has no inverse", "another seed"});
  EXPECT_NEAR(amari_index(1e-200 * identity, identity), 0, 1e-14);
  refused(identity, Matrix::Zero(3, 3), {"generating mixing matrix lacks a direction"});
  Matrix broken = identity;
  broken(1, 1) = std::numeric_limits<double>::quiet_NaN();
  refused(broken, identity, {"learned mixing matrix holds NaN or infinity"});
  refused(identity, broken, {"generating mixing matrix holds NaN or infinity"});
}

}  // namespace
}  // namespace gsc::test
