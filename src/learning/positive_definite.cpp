#include "learning/positive_definite.h"

#include <Eigen/Cholesky>

#include "math/eigen_pairs.h"

namespace gsc {

bool is_positive_definite(const Matrix& symmetric) {
  return symmetric.allFinite() && Eigen::LLT<Eigen::MatrixXd>(symmetric).info() == Eigen::Success;
}

Matrix make_positive_definite(const Matrix& covariance, double floor, std::int64_t& raised) {
  const Matrix symmetric = 0.5 * (covariance + covariance.transpose());
  if (is_positive_definite(symmetric)) return symmetric;
  auto [values, vectors] = eigen_pairs(symmetric);
  // Relative to the largest, so that the result passes a Cholesky test in spite of rounding.
  floor = std::max(floor, 1e-13 * static_cast<double>(values.size()) * values.cwiseAbs().maxCoeff());
  for (double& value : values)
    if (!(value >= floor)) {
      value = floor;
      ++raised;
    }
  const Matrix repaired = vectors * values.asDiagonal() * vectors.transpose();
  return 0.5 * (repaired + repaired.transpose());
}

}  // namespace gsc
