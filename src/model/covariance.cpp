#include "model/covariance.h"

#include <Eigen/Cholesky>
#include <cmath>

#include "math/number_text.h"

namespace gsc {

void require_variances(const Vector& variances, const std::string& what) {
  for (Index i = 0; i < variances.size(); ++i)
    if (!(variances(i) > 0) || !std::isfinite(variances(i)))
      throw Error(what + " variance " + std::to_string(i) + " is " + number_text(variances(i)) +
                  "; variances must be positive and finite");
}

Matrix cholesky_factor(const Matrix& covariance, const std::string& what) {
  const std::string shape = std::to_string(covariance.rows()) + " x " + std::to_string(covariance.cols());
  if (covariance.rows() != covariance.cols() || covariance.rows() == 0)
    throw Error(what + " covariance is " + shape + "; it must be square");
  for (Index i = 0; i < covariance.rows(); ++i)
    for (Index j = 0; j < covariance.cols(); ++j)
      if (!std::isfinite(covariance(i, j)))
        throw Error(what + " covariance holds NaN or infinity, in row " + std::to_string(i) + ", column " +
                    std::to_string(j) + " (from 0); every value must be finite");
  const double asymmetry = (covariance - covariance.transpose()).cwiseAbs().maxCoeff();
  if (asymmetry > 1e-8 * covariance.cwiseAbs().maxCoeff())
    throw Error(what + " covariance (" + shape + ") is not symmetric: entries differ from their mirror by up to " +
                number_text(asymmetry) + "; take the mean of itself and its transpose");
  const Eigen::LLT<Eigen::MatrixXd> llt(covariance);
  if (llt.info() != Eigen::Success)
    throw Error(what + " covariance (" + shape + ") is not positive definite; add a little to its diagonal");
  return llt.matrixL();
}

}  // namespace gsc
