#include <gsc/data.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "data/finite.h"
#include "data/row_list.h"
#include "data/sums.h"
#include "math/failure.h"
#include "math/number_text.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

constexpr Index kBlockRows = 1024;

/// Values differ by this much on average: squares of numbers near the ends of the range of doubles (1e-308 to 1e308)
/// leave it, and so would variances, precisions and their products. Within these bounds fit() was tried.
void check_magnitude(const Data& data, double typical) {
  constexpr double kLeast = 1e-100, kMost = 1e100;
  if (typical >= kLeast && typical <= kMost) return;
  const bool large = typical > kMost;
  const int exponent = std::isfinite(typical) ? static_cast<int>(std::floor(std::log10(typical))) : 308;
  throw Error(data.name() + ": the values differ from row to row by " + number_text(typical, 3) +
              " on average; the squares of such " + (large ? "large" : "small") +
              " numbers are beyond the range of the arithmetic. " + (large ? "Divide" : "Multiply") +
              " all values by 1e" + std::to_string(std::abs(exponent)) + " first");
}

[[noreturn]] void refuse_equal(const Data& data) {
  throw Error(
      data.name() +
      ": all rows are equal (every value in a column is the same), so there is nothing to learn; is it the right "
      "table?");
}

}  // namespace

void require_finite(const Data& data, Index first, const Eigen::Ref<const Matrix>& block) {
  if (block.allFinite()) return;
  const auto* listed = dynamic_cast<const RowList*>(&data);
  for (Index i = 0; i < block.rows(); ++i)
    for (Index d = 0; d < block.cols(); ++d)
      if (!std::isfinite(block(i, d)))
        throw Error(data.name() + ": row " + std::to_string(listed != nullptr ? listed->row(first + i) : first + i) +
                    ", column " + std::to_string(d) + " (from 0) is " +
                    (std::isnan(block(i, d))
                         ? "NaN; set missing to nan if that is a missing value, or remove or replace such values first"
                         : "infinite; remove or replace such values first"));
}

void require_not_infinite(const Data& data, Index first, const Eigen::Ref<const Matrix>& block) {
  if (!block.array().isInf().any()) return;
  require_finite(data, first, block.unaryExpr([](double value) { return std::isnan(value) ? 0 : value; }));
}

void check_shape(const Data& data) {
  const Index rows = data.rows(), cols = data.cols();
  if (rows == 0 || cols == 0)
    throw Error(data.name() + ": the data is empty (" + std::to_string(rows) + " rows, " + std::to_string(cols) +
                " columns); one row per data point is expected");
  if (rows == 1)
    throw Error(data.name() + ": only one row of " + std::to_string(cols) +
                " columns; rows are data points and learning needs at least two (is the table transposed?)");
}

Vector first_row(const Data& data, bool allow_missing) {
  Matrix block(1, data.cols());
  data.read(0, block);
  if (!allow_missing) require_finite(data, 0, block);
  Vector first = block.row(0).transpose();
  for (Index row = 1; row < data.rows() && first.hasNaN(); row += block.rows()) {
    block.resize(std::min(kBlockRows, data.rows() - row), data.cols());
    data.read(row, block);
    for (Index i = 0; i < block.rows(); ++i)
      for (Index d = 0; d < block.cols(); ++d)
        if (std::isnan(first[d])) first[d] = block(i, d);
  }
  return first.array().isNaN().select(0, first);
}

DataSums::DataSums(Vector about, bool full_covariance, bool allow_missing)
    : origin(std::move(about)),
      sum(Vector::Zero(origin.size())),
      squares(Matrix::Zero(origin.size(), full_covariance ? origin.size() : 1)),
      observed(Vector::Zero(allow_missing ? origin.size() : 0)),
      full(full_covariance) {
  assert(!full_covariance || !allow_missing);
}

void DataSums::add_rows(const Data& data, Index first_number, int threads) {
  if (threads > 1 && !full && observed.size() == 0) return add_blocks(data, first_number, threads);
  Matrix block;
  for (Index first = 0; first < data.rows(); first += kBlockRows) {
    read_block(data, first, first_number, block);
    if (observed.size() > 0) {
      observed += (!block.array().isNaN()).cast<double>().matrix().colwise().sum().transpose();
      block = block.array().isNaN().select(0, block);
    }
    magnitude += block.cwiseAbs().sum();
    sum += block.colwise().sum().transpose();
    if (full)
      squares.noalias() += block.transpose() * block;
    else
      squares.col(0) += block.colwise().squaredNorm().transpose();
  }
  count += static_cast<double>(data.rows());
}

/// Less the origin.
void DataSums::read_block(const Data& data, Index first, Index first_number, Matrix& block) const {
  block.resize(std::min(kBlockRows, data.rows() - first), data.cols());
  data.read(first, block);
  if (observed.size() == 0)
    require_finite(data, first_number + first, block);
  else
    require_not_infinite(data, first_number + first, block);
  block.rowwise() -= origin.transpose();
}

/// Sums and squares of blocks are made by several threads, and added up in the order in which one thread would.
void DataSums::add_blocks(const Data& data, Index first_number, int threads) {
  const Index blocks = (data.rows() + kBlockRows - 1) / kBlockRows, cols = data.cols();
  Vector magnitudes(blocks);
  // Each begins at zero and is added to as above, so that Eigen takes the same order.
  std::vector<Vector> sums(static_cast<std::size_t>(blocks), Vector::Zero(cols));
  std::vector<Matrix> square_sums(static_cast<std::size_t>(blocks), Matrix::Zero(cols, 1));
  Failure failure;
#pragma omp parallel num_threads(threads)
  {
    const FloatingPointScope floating_point;
    Matrix block;
#pragma omp for schedule(static)
    for (Index b = 0; b < blocks; ++b)
      failure.guard([&] {
        read_block(data, b * kBlockRows, first_number, block);
        magnitudes[b] = block.cwiseAbs().sum();
        sums[static_cast<std::size_t>(b)] += block.colwise().sum().transpose();
        square_sums[static_cast<std::size_t>(b)].col(0) += block.colwise().squaredNorm().transpose();
      });
  }
  failure.rethrow();
  for (Index b = 0; b < blocks; ++b) {
    magnitude += magnitudes[b];
    sum += sums[static_cast<std::size_t>(b)];
    squares += square_sums[static_cast<std::size_t>(b)];
  }
  count += static_cast<double>(data.rows());
}

DataSummary DataSums::summary(const Data& data) const {
  DataSummary summary;
  summary.count = count;
  summary.observed = observed;
  const double values = observed.size() > 0 ? observed.sum() : count * static_cast<double>(data.cols());
  if (values == 0)
    throw Error(data.name() +
                ": every value is missing, so there is nothing to learn from; is it the right table, and "
                "the right sign for missing values?");
  if (magnitude > 0) check_magnitude(data, magnitude / values);
  if (observed.size() > 0) {
    const Vector counts = observed.cwiseMax(1), from_origin = sum.cwiseQuotient(counts);
    summary.mean = origin + from_origin;
    Vector variances = (squares.col(0).cwiseQuotient(counts) - from_origin.cwiseAbs2()).cwiseMax(0.0);
    const double columns = static_cast<double>((observed.array() > 0).count());
    summary.covariance = (observed.array() == 0).select(variances.sum() / columns, variances);
    if (!(variances.sum() > 0)) refuse_equal(data);
    return summary;
  }
  const Vector offset = sum / summary.count;
  summary.mean = origin + offset;
  if (full)
    summary.covariance = squares / summary.count - offset * offset.transpose();
  else
    summary.covariance = (squares.col(0) / summary.count - offset.cwiseAbs2()).cwiseMax(0.0);
  const double variance = full ? summary.covariance.trace() : summary.covariance.sum();
  if (!(variance > 0)) refuse_equal(data);
  return summary;
}

DataSummary summarize(const Data& data, bool full_covariance, bool allow_missing, int threads) {
  check_shape(data);
  DataSums sums(first_row(data, allow_missing), full_covariance, allow_missing);
  sums.add_rows(data, 0, threads);
  return sums.summary(data);
}

}  // namespace gsc
