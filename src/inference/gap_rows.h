#pragma once
// The rows of a block sorted by what is missing of them: complete ones first, as they were among themselves, so that
// they go the fast way; then those with gaps, those with the same gaps together; last those without any observed entry.

#include <gsc/data.h>

#include <vector>

namespace gsc {

class GapRows {
 public:
  /// Finds the NaN in the rows of `block`, which starts at row `first` of `data`, sorts the rows and puts `filling` (D,
  /// or empty: zero) in their place. Throws Error for infinite values. With `all`, complete rows count as rows with
  /// gaps too.
  void sort(const Data& data, Index first, Eigen::Ref<Matrix> block, const Vector& filling, bool all = false);

  bool any() const { return partial_ + empty_ > 0; }
  Index complete() const { return complete_; }
  Index partial() const { return partial_; }
  Index empty() const { return empty_; }
  /// Rows that are not complete.
  Index count() const { return partial_ + empty_; }
  /// How many rows with gaps, from this one on, miss the same entries.
  Index alike(Index first) const;
  /// count() rows (it may have more) x D: 1 where a value was observed, else 0.
  const Matrix& observed() const { return observed_; }

  /// Brings rows of `columns` numbers, sorted as the block's, back to where they were.
  template <class Value>
  void restore(Value* rows, Index columns) {
    if (!any()) return;
    const auto width = static_cast<std::size_t>(columns);
    const std::vector<Value> sorted(rows, rows + order_.size() * width);
    for (std::size_t i = 0; i < order_.size(); ++i)
      std::copy_n(sorted.data() + i * width, columns, rows + order_[i] * columns);
  }
  /// Where row i of the sorted block was.
  Index origin(Index i) const { return any() ? order_[static_cast<std::size_t>(i)] : i; }

 private:
  Index complete_ = 0, partial_ = 0, empty_ = 0;
  std::vector<Index> order_;
  Matrix observed_, sorted_;
};

}  // namespace gsc
