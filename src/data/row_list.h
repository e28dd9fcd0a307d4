#pragma once

#include <gsc/data.h>

#include <span>

namespace gsc {

/// Some rows of other data, in any order. Both must outlive it.
class RowList final : public Data {
 public:
  RowList(const Data& data, std::span<const Index> rows) : data_(data), rows_(rows) {}
  Index rows() const override { return static_cast<Index>(rows_.size()); }
  Index cols() const override { return data_.cols(); }
  std::string name() const override { return data_.name(); }
  /// Which row of the data is the i-th here.
  Index row(Index i) const { return rows_[static_cast<std::size_t>(i)]; }

  /// Neighbours are read together.
  void read(Index first, Eigen::Ref<Matrix> block) const override {
    const std::span<const Index> wanted =
        rows_.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(block.rows()));
    for (std::size_t begin = 0, end; begin < wanted.size(); begin = end) {
      for (end = begin + 1; end < wanted.size() && wanted[end] == wanted[end - 1] + 1;) ++end;
      data_.read(wanted[begin], block.middleRows(static_cast<Index>(begin), static_cast<Index>(end - begin)));
    }
  }

 private:
  const Data& data_;
  std::span<const Index> rows_;
};

}  // namespace gsc
