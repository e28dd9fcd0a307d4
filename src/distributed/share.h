#pragma once
// A rank's share of the data, and how the sums over it become those over all data. The learning loop knows the data
// only through this.
//
//   rows  ->  E-step on the own rows  ->  Statistics, added up over the ranks  ->  the same M-step everywhere

#include <gsc/inference.h>
#include <gsc/team.h>

#include <functional>
#include <optional>

#include "distributed/node_rows.h"

namespace gsc {

/// The rows a rank works on, as data: a contiguous part of the source, or a list of rows in memory in any order.
class ShareRows final : public Data {
 public:
  ShareRows(const Data& source, Index first, Index count) : source_(source), first_(first), count_(count) {}

  Index rows() const override { return memory_ != nullptr ? static_cast<Index>(list.size()) : count_; }
  Index cols() const override { return source_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override;
  std::string name() const override { return source_.name(); }
  bool random_access() const override { return memory_ != nullptr || source_.random_access(); }

  /// From now on the rows of `list`, which lie in this memory.
  void use_memory(const NodeRows& memory);
  std::vector<Row> list;

 private:
  const Data& source_;
  Index first_, count_;
  const NodeRows* memory_ = nullptr;
};

class Share {
 public:
  /// Collective, as are all methods below.
  Share(const Data& data, const SharingOptions& options);

  /// Of all ranks' rows; throws as gsc::summarize().
  DataSummary summarize(bool full_covariance, bool allow_missing);

  /// This rank's rows. After regroup() there may be others, or the same in another order.
  const Data& rows() const { return rows_; }

  /// Throws unless the data has a shape that can be learned from.
  void check();
  /// With a partition: sorts this rank's rows, or those of all ranks, by the keys that keys_of() gives each of rows().
  void regroup(const std::function<std::vector<std::uint64_t>()>& keys_of);
  /// What `own` gathers on each rank, added up; the same on all ranks.
  Statistics total(const std::function<Statistics()>& own);

  /// This rank's columns of the root's matrix with a column per row of the data, and such a matrix on the root
  /// (elsewhere empty) from what the ranks have. Empty matrices stay empty.
  Matrix own_columns(const Matrix& all) const;
  Matrix all_columns(const Matrix& own) const;

  Team& team() const { return *options_.team; }
  /// Seconds are means over the ranks, rows sums.
  SharingReport report() const;

 private:
  void group();
  bool merge_clusters();
  void agree_on_products(Statistics& statistics);
  void add_up(Statistics& statistics);

  const Data& data_;
  SharingOptions options_;
  std::vector<Index> shares_;  // the first row of every rank, and the end
  ShareRows rows_;
  std::optional<NodeRows> memory_;
  SharingReport report_;
};

}  // namespace gsc
