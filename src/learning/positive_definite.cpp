#include "learning/positive_definite.h"

#include <Eigen/Cholesky>

#include "math/eigen_pairs.h"

namespace gsc {
namespace {

Matrix symmetric_part(const Matrix& matrix) { return 0.5 * (matrix + matrix.transpose()); }

Matrix raise_eigenvalues(const Matrix& symmetric, double floor, std::int64_t& raised) {
  auto [values, vectors] = eigen_pairs(symmetric);
  // Relative to the largest, so that the result passes a Cholesky test in spite of rounding.
  floor = std::max(floor, 1e-13 * static_cast<double>(values.size()) * values.cwiseAbs().maxCoeff());
  for (double& value : values)
    if (!(value >= floor)) {
      value = floor;
      ++raised;
    }
  return symmetric_part(vectors * values.asDiagonal() * vectors.transpose());
}

}  // namespace

bool is_positive_definite(const Matrix& symmetric) {
  return symmetric.allFinite() && Eigen::LLT<Eigen::MatrixXd>(symmetric).info() == Eigen::Success;
}

Matrix make_positive_definite(const Matrix& covariance, double floor, std::int64_t& raised) {
  const Matrix symmetric = symmetric_part(covariance);
  if (is_positive_definite(symmetric)) return symmetric;
  return raise_eigenvalues(symmetric, floor, raised);
}

Matrix hold_above(const Matrix& covariance, double floor, std::int64_t& raised) {
  const Matrix symmetric = symmetric_part(covariance);
  // Cholesky's test is blind to scale and passes a variance of 1e-270 beside others of 1. With the floor taken off, it
  // tells whether all eigenvalues are above it, for the same price.
  Matrix above = symmetric;
  above.diagonal().array() -= floor;
  if (is_positive_definite(above)) return symmetric;
  return raise_eigenvalues(symmetric, floor, raised);
}

}  // namespace gsc
