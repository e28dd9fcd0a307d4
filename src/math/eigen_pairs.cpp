#include "math/eigen_pairs.h"

#include <Eigen/Eigenvalues>

namespace gsc {

EigenPairs eigen_pairs(const Matrix& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace gsc
