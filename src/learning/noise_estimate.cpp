#include "learning/noise_estimate.h"

#include <algorithm>
#include <cmath>

#include "math/blas.h"
#include "math/eigen_pairs.h"

namespace gsc {

double noise_of_table(const Data& data, const DataSummary& summary) {
  constexpr Index kBlock = 4096, kShare = 4;
  const Index D = data.cols();
  Matrix sums = Matrix::Zero(D, D), counts = Matrix::Zero(D, D), block, observed;
  for (Index first = 0; first < data.rows(); first += kBlock) {
    block.resize(std::min(kBlock, data.rows() - first), D);
    data.read(first, block);
    observed = (!block.array().isNaN()).cast<double>();
    block = (observed.array() > 0).select(block.rowwise() - summary.mean.transpose(), 0);
    add_product_transposed(block, block, sums);
    add_product_transposed(observed, observed, counts);
  }
  const Matrix covariance = sums.cwiseQuotient(counts.cwiseMax(1));
  const double power = covariance.trace() / static_cast<double>(D);
  const Vector values = eigen_pairs(covariance).values;
  const double lowest = values.head(std::max<Index>(1, D / kShare)).mean();
  return std::sqrt(std::max(lowest, 1e-6 * power));
}

}  // namespace gsc
