#include <gsc/model.h>

#include <Eigen/Cholesky>
#include <cmath>
#include <utility>

#include "model/covariance.h"

namespace gsc {

Noise Noise::scalar(double variance, Index dimensions) {
  require_variances(Vector::Constant(1, variance), "noise");
  Noise noise;
  noise.type_ = NoiseType::scalar;
  noise.dimensions_ = dimensions;
  noise.values_ = Matrix::Constant(1, 1, variance);
  return noise;
}

Noise Noise::diagonal(Vector variances) {
  require_variances(variances, "noise");
  Noise noise;
  noise.type_ = NoiseType::diagonal;
  noise.dimensions_ = variances.size();
  noise.values_ = std::move(variances);
  return noise;
}

Noise Noise::full(Matrix covariance) {
  Noise noise;
  noise.type_ = NoiseType::full;
  noise.dimensions_ = covariance.rows();
  noise.cholesky_ = cholesky_factor(covariance, "noise");
  noise.values_ = std::move(covariance);
  return noise;
}

Noise Noise::from_covariance(NoiseType type, const Matrix& covariance) {
  if (type == NoiseType::full) return full(covariance);
  const Vector variances = covariance.cols() == 1 ? Vector(covariance.col(0)) : Vector(covariance.diagonal());
  if (type == NoiseType::scalar) return scalar(variances.mean(), variances.size());
  return diagonal(variances);
}

Matrix Noise::covariance() const {
  switch (type_) {
    case NoiseType::scalar:
      return values_(0, 0) * Matrix::Identity(dimensions_, dimensions_);
    case NoiseType::diagonal:
      return values_.col(0).asDiagonal();
    case NoiseType::full:
      return values_;
  }
  return {};
}

Matrix Noise::solve(const Matrix& rhs) const {
  if (type_ == NoiseType::scalar) return rhs / values_(0, 0);
  if (type_ == NoiseType::diagonal) return values_.col(0).cwiseInverse().asDiagonal() * rhs;
  Matrix x = cholesky_.triangularView<Eigen::Lower>().solve(rhs);
  cholesky_.transpose().triangularView<Eigen::Upper>().solveInPlace(x);
  return x;
}

double Noise::log_determinant() const {
  if (type_ == NoiseType::scalar) return static_cast<double>(dimensions_) * std::log(values_(0, 0));
  if (type_ == NoiseType::diagonal) return values_.col(0).array().log().sum();
  return 2 * cholesky_.diagonal().array().log().sum();
}

Noise Noise::scaled(double factor) const {
  if (type_ == NoiseType::full) return full(factor * values_);
  return type_ == NoiseType::scalar ? scalar(factor * values_(0, 0), dimensions_) : diagonal(factor * values_.col(0));
}

double Noise::mean_variance() const {
  return type_ == NoiseType::full ? values_.trace() / static_cast<double>(dimensions_) : values_.mean();
}

Matrix Noise::color(const Matrix& white) const {
  if (type_ == NoiseType::scalar) return std::sqrt(values_(0, 0)) * white;
  if (type_ == NoiseType::diagonal) return values_.col(0).cwiseSqrt().asDiagonal() * white;
  return cholesky_.triangularView<Eigen::Lower>() * white;
}

}  // namespace gsc
