#include "inference/gap_rows.h"

#include <algorithm>
#include <cmath>

#include "data/finite.h"

namespace gsc {

void GapRows::sort(const Data& data, Index first, Eigen::Ref<Matrix> block, const Vector& filling, bool all) {
  const Index rows = block.rows(), D = block.cols();
  complete_ = rows;
  partial_ = empty_ = 0;
  if (!all && block.allFinite()) return;

  require_not_infinite(data, first, block);
  std::vector<Index> observed(static_cast<std::size_t>(rows));
  order_.clear();
  for (Index i = 0; i < rows; ++i) {
    const Index missing = block.row(i).array().isNaN().count();
    observed[static_cast<std::size_t>(i)] = D - missing;
    if (missing == 0 && !all) order_.push_back(i);
  }
  complete_ = static_cast<Index>(order_.size());
  for (Index i = 0; i < rows; ++i)
    if (const Index seen = observed[static_cast<std::size_t>(i)]; seen > 0 && (seen < D || all)) order_.push_back(i);
  partial_ = static_cast<Index>(order_.size()) - complete_;
  std::vector<std::uint64_t> hashes(static_cast<std::size_t>(rows));
  for (Index i = complete_; i < complete_ + partial_; ++i) {
    const Index row = order_[static_cast<std::size_t>(i)];
    std::uint64_t& hash = hashes[static_cast<std::size_t>(row)];
    for (Index d = 0; d < D; ++d) hash = (hash ^ (std::isnan(block(row, d)) ? 1U : 2U)) * 0x100000001b3U;
  }
  std::stable_sort(order_.begin() + complete_, order_.end(), [&](Index a, Index b) {
    return hashes[static_cast<std::size_t>(a)] < hashes[static_cast<std::size_t>(b)];
  });
  for (Index i = 0; i < rows; ++i)
    if (observed[static_cast<std::size_t>(i)] == 0) order_.push_back(i);
  empty_ = rows - complete_ - partial_;

  if (observed_.rows() < count() || observed_.cols() != D) observed_.resize(std::max(count(), observed_.rows()), D);
  sorted_.resize(rows, D);
  for (Index i = 0; i < rows; ++i) sorted_.row(i) = block.row(order_[static_cast<std::size_t>(i)]);
  for (Index i = complete_; i < rows; ++i)
    for (Index d = 0; d < D; ++d) {
      const bool missing = std::isnan(sorted_(i, d));
      observed_(i - complete_, d) = missing ? 0 : 1;
      if (missing) sorted_(i, d) = filling.size() > 0 ? filling[d] : 0;
    }
  block = sorted_;
}

Index GapRows::alike(Index first) const {
  Index end = first + 1;
  while (end < partial_ && (observed_.row(end).array() == observed_.row(first).array()).all()) ++end;
  return end - first;
}

}  // namespace gsc
