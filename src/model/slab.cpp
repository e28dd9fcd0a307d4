#include <gsc/model.h>

#include <utility>

#include "model/covariance.h"

namespace gsc {

Slab Slab::diagonal(Vector variances) {
  require_variances(variances, "slab");
  Slab slab;
  slab.type_ = SlabType::diagonal;
  slab.values_ = std::move(variances);
  return slab;
}

Slab Slab::full(Matrix covariance) {
  cholesky_factor(covariance, "slab");
  Slab slab;
  slab.type_ = SlabType::full;
  slab.values_ = std::move(covariance);
  return slab;
}

Vector Slab::variances() const { return type_ == SlabType::full ? Vector(values_.diagonal()) : Vector(values_.col(0)); }

Matrix Slab::covariance() const {
  if (type_ == SlabType::full) return values_;
  return Matrix(values_.col(0).asDiagonal());
}

Matrix Slab::color(const Matrix& white) const {
  if (type_ == SlabType::diagonal) return values_.col(0).cwiseSqrt().asDiagonal() * white;
  return cholesky_factor(values_, "slab") * white;
}

}  // namespace gsc
