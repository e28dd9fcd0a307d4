#include "truncated/tree/gap_model.h"

#include <cassert>
#include <cmath>
#include <numbers>

namespace gsc {

GapModel::GapModel(const Model& model, const Vector& scale, Index padded) {
  assert(model.noise.type() != NoiseType::full);
  const Index D = model.dimensions(), H = model.latents();
  const Vector variances = model.noise.type() == NoiseType::scalar
                               ? Vector(Vector::Constant(D, model.noise.values()(0)))
                               : Vector(model.noise.values().col(0));
  basis = scale.asDiagonal() * model.W.transpose() * variances.cwiseSqrt().cwiseInverse().asDiagonal();
  columns = SingleMatrix::Zero(D, padded);
  columns.leftCols(H) = basis.transpose().cast<float>();
  squares = Matrix::Zero(D, padded);
  squares.leftCols(H) = basis.transpose().cwiseAbs2();
  const Vector psi = model.slab.variances();
  slab_precision = Vector::Ones(padded);
  slab_precision.head(H) = scale.cwiseAbs2().cwiseQuotient(psi);
  log_noise = 0.5 * (2 * std::numbers::pi * variances.array()).log();
  pi = model.pi;
  mean = model.pi.cwiseProduct(model.mu).cwiseQuotient(scale);
  second = model.pi.cwiseProduct(psi + model.mu.cwiseAbs2()).cwiseQuotient(scale.cwiseAbs2());
}

Matrix prior_products(const Model& model) {
  Matrix products = model.slab.covariance() + model.mu * model.mu.transpose();
  const Vector diagonal = products.diagonal().cwiseProduct(model.pi);
  products = model.pi.asDiagonal() * products * model.pi.asDiagonal();
  products.diagonal() = diagonal;
  return products;
}

}  // namespace gsc
