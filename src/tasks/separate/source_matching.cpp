// The assignment of learned sources to true ones.

#include <gsc/scores.h>

#include <limits>

namespace gsc {
namespace {

/// Rows with mean 0 and length 1; constant ones become 0.
Matrix standardized(const Matrix& rows) {
  Matrix result = rows.colwise() - rows.rowwise().mean();
  for (Index i = 0; i < result.rows(); ++i) {
    const double length = result.row(i).norm();
    // What rounding leaves of a constant row is no signal.
    if (length > 1e-12 * rows.row(i).norm())
      result.row(i) /= length;
    else
      result.row(i).setZero();
  }
  return result;
}

/// The assignment of least total cost (Hungarian method, one row after the other along shortest augmenting paths).
/// cost has at most as many rows as columns; returns the column of each row.
std::vector<Index> assign(const Matrix& cost) {
  const Index rows = cost.rows(), cols = cost.cols();
  Vector row_price = Vector::Zero(rows + 1), col_price = Vector::Zero(cols + 1);
  std::vector<Index> row_of(cols + 1, rows);  // `rows`: free. Paths begin at a column `cols` beside the others
  for (Index row = 0; row < rows; ++row) {
    Vector distance = Vector::Constant(cols + 1, std::numeric_limits<double>::infinity());
    std::vector<bool> done(cols + 1);
    std::vector<Index> previous(cols + 1, cols);
    Index col = cols;
    row_of[col] = row;
    while (row_of[col] != rows) {
      done[col] = true;
      const Index from = row_of[col];
      Index nearest = cols;
      for (Index j = 0; j < cols; ++j) {
        if (done[j]) continue;
        const double reduced = cost(from, j) - row_price(from) - col_price(j);
        if (reduced < distance(j)) {
          distance(j) = reduced;
          previous[j] = col;
        }
        if (nearest == cols || distance(j) < distance(nearest)) nearest = j;
      }
      const double step = distance(nearest);
      for (Index j = 0; j <= cols; ++j) {
        if (done[j]) {
          row_price(row_of[j]) += step;
          col_price(j) -= step;
        } else {
          distance(j) -= step;
        }
      }
      col = nearest;
    }
    for (Index before = 0; col != cols; col = before) {
      before = previous[col];
      row_of[col] = row_of[before];
    }
    row_of[cols] = rows;
  }
  std::vector<Index> col_of(rows, -1);
  for (Index j = 0; j < cols; ++j)
    if (const Index row = row_of[j]; row < rows) col_of[row] = j;
  return col_of;
}

}  // namespace

std::vector<SourceMatch> match_sources(const Matrix& truth, const Matrix& found) {
  const Matrix correlation = (standardized(truth) * standardized(found).transpose()).cwiseAbs();
  std::vector<SourceMatch> matches(truth.rows());
  const auto match = [&](Index true_row, Index found_row) {
    matches[true_row] = {found_row, correlation(true_row, found_row)};
  };
  if (truth.rows() <= found.rows()) {
    const std::vector<Index> found_of = assign(-correlation);
    for (Index i = 0; i < truth.rows(); ++i) match(i, found_of[i]);
  } else {
    const std::vector<Index> truth_of = assign(-correlation.transpose());
    for (Index j = 0; j < found.rows(); ++j) match(truth_of[j], j);
  }
  return matches;
}

}  // namespace gsc
