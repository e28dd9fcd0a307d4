#include <gsc/data.h>

#include <algorithm>
#include <cmath>

#include "data/finite.h"

namespace gsc {
namespace {

constexpr Index kBlockRows = 1024;

}  // namespace

void require_finite(const Data& data, Index first, const Eigen::Ref<const Matrix>& block) {
  if (block.allFinite()) return;
  for (Index i = 0; i < block.rows(); ++i)
    for (Index d = 0; d < block.cols(); ++d)
      if (!std::isfinite(block(i, d)))
        throw Error(data.name() + ": row " + std::to_string(first + i) + ", column " + std::to_string(d) +
                    " (from 0) is " + (std::isnan(block(i, d)) ? "NaN" : "infinite") +
                    "; remove or replace such values first");
}

DataSummary summarize(const Data& data, bool full_covariance) {
  const Index rows = data.rows(), cols = data.cols();
  if (rows == 0 || cols == 0)
    throw Error(data.name() + ": the data is empty (" + std::to_string(rows) + " rows, " + std::to_string(cols) +
                " columns); one row per data point is expected");
  if (rows == 1)
    throw Error(data.name() + ": only one row of " + std::to_string(cols) +
                " columns; rows are data points and learning needs at least two (is the table transposed?)");

  // Sums are taken about the first row: for data far from zero this keeps the variance from cancelling away.
  Matrix block(1, cols);
  data.read(0, block);
  require_finite(data, 0, block);
  const Vector origin = block.row(0).transpose();
  Vector sum = Vector::Zero(cols);
  Matrix squares = Matrix::Zero(cols, full_covariance ? cols : 1);
  for (Index first = 0; first < rows; first += kBlockRows) {
    block.resize(std::min(kBlockRows, rows - first), cols);
    data.read(first, block);
    require_finite(data, first, block);
    block.rowwise() -= origin.transpose();
    sum += block.colwise().sum().transpose();
    if (full_covariance)
      squares.noalias() += block.transpose() * block;
    else
      squares.col(0) += block.colwise().squaredNorm().transpose();
  }

  DataSummary summary;
  summary.count = static_cast<double>(rows);
  const Vector offset = sum / summary.count;
  summary.mean = origin + offset;
  if (full_covariance)
    summary.covariance = squares / summary.count - offset * offset.transpose();
  else
    summary.covariance = (squares.col(0) / summary.count - offset.cwiseAbs2()).cwiseMax(0.0);
  const double variance = full_covariance ? summary.covariance.trace() : summary.covariance.sum();
  if (!(variance > 0))
    throw Error(data.name() +
                ": all rows are equal (every value in a column is the same), so there is nothing to learn");
  return summary;
}

}  // namespace gsc
