#pragma once
// Data as the engine sees it: a table of N points in D dimensions, walked in blocks.

#include <gsc/export.h>
#include <gsc/types.h>

#include <string>
#include <utility>
#include <vector>

namespace gsc {

/// A read-only table, one data point per row. The engine asks for blocks of rows and never for the whole,
/// so an implementation may hold doubles, floats or a memory-mapped file larger than memory.
class GSC_EXPORT Data {
 public:
  virtual ~Data() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;

  /// Copies rows first, first+1, ... into all rows of `block` (cols() wide). Called from several threads.
  virtual void read(Index first, Eigen::Ref<Matrix> block) const = 0;

  /// What messages call it: the file it came from, or "data".
  virtual std::string name() const { return "data"; }

  /// Whether single rows, in any order, come as fast as neighbouring ones; not so from files larger than memory.
  virtual bool random_access() const { return true; }

  /// What the columns are called, where a header says so; else nothing.
  virtual std::vector<std::string> column_names() const { return {}; }

  /// Whether, among several processes, only the first can read it (RootData in gsc/team.h).
  virtual bool root_only() const { return false; }
};

/// How the columns of a table lie: rows x cols pixels (or places, or moments) with `channels` values each, the channels
/// of a pixel together. rows 0: nobody said.
struct Shape {
  Index rows = 0, cols = 0, channels = 1;
  bool operator==(const Shape&) const = default;
};

/// Data held in memory as doubles.
class GSC_EXPORT MatrixData final : public Data {
 public:
  explicit MatrixData(Matrix values, std::string name = "data") : values_(std::move(values)), name_(std::move(name)) {}
  Index rows() const override { return values_.rows(); }
  Index cols() const override { return values_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override { block = values_.middleRows(first, block.rows()); }
  std::string name() const override { return name_; }
  const Matrix& values() const { return values_; }

 private:
  Matrix values_;
  std::string name_;
};

/// What one pass over the data tells before learning starts.
struct DataSummary {
  double count = 0;
  Vector mean;        ///< D; of what was observed, 0 where nothing was
  Matrix covariance;  ///< D x D if asked for, else D x 1 variances; where nothing was observed, their mean
  Vector observed;    ///< D: how many rows have each entry, if values may be missing, else empty
};

/// Throws Error for fewer than two rows, no columns, NaN or infinity (naming row and column), data without any
/// variance, and values too large or too small to be squared; otherwise returns mean and (co)variance. With
/// `allow_missing` NaN is a missing value (then there are variances only), and an Error only if there is nothing else.
/// Further threads help where there are variances only and no missing values; the sums do not depend on them.
GSC_EXPORT DataSummary summarize(const Data& data, bool full_covariance = false, bool allow_missing = false,
                                 int threads = 1);

}  // namespace gsc
