#pragma once
// The parts of summarize(): what can be added up over rows and processes.

#include <gsc/data.h>

namespace gsc {

/// Throws unless there is anything to learn from.
void check_shape(const Data& data);
/// The first row; with `allow_missing` the first value of each column that is not NaN, 0 if there is none.
Vector first_row(const Data& data, bool allow_missing);

/// Sums about a row of the data: for data far from zero this keeps the variance from cancelling away.
struct DataSums {
  DataSums(Vector about, bool full_covariance, bool allow_missing);

  /// All rows of `data`; messages call its first row `first_number`. The sums do not depend on threads, which help
  /// where there are variances only and no missing values.
  void add_rows(const Data& data, Index first_number, int threads = 1);
  DataSummary summary(const Data& data) const;

  double count = 0;
  double magnitude =
      0;  ///< sum of |y - origin| over all entries; in contrast to squares it neither over- nor underflows
  Vector origin, sum;
  Matrix squares;   ///< D x D, or D x 1
  Vector observed;  ///< D if values may be missing, else empty
  bool full;

 private:
  void read_block(const Data& data, Index first, Index first_number, Matrix& block) const;
  void add_blocks(const Data& data, Index first_number, int threads);
};

}  // namespace gsc
