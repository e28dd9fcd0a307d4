#pragma once
// Rows of data in memory that the ranks of a node share. A row may be worked on by any rank of its node without being
// copied; rows go to another node only through move().

#include <gsc/team.h>

#include <cstdint>

namespace gsc {

/// A row that a rank works on.
struct Row {
  std::uint64_t handle;  ///< where it lies; meaningful within a node
  std::uint64_t key;     ///< of its candidates at the last E-step
};

class NodeRows {
 public:
  /// Copies rows first .. first+count-1 of the data into this rank's part; if only the root can read the data, it hands
  /// them out. `shares`: the first row of every rank, and the end.
  NodeRows(Team& team, const Data& data, const std::vector<Index>& shares);

  std::vector<Row> own_rows() const;  ///< as they were copied
  const double* row(std::uint64_t handle) const;
  Index cols() const { return cols_; }

  /// Rows that this rank can still take in; negative: any number, as there is one node only.
  Index room() const { return several_nodes_ ? static_cast<Index>(free_.size()) : -1; }
  /// Hands outgoing[r] over to rank r and returns what came from the others. `sent` is increased by the rows that went
  /// to another node.
  std::vector<Row> move(const std::vector<std::vector<Row>>& outgoing, double& sent);

 private:
  void fill(const Data& data, Index first, Index count);
  void fill_from_root(const Data& data, const std::vector<Index>& shares);
  std::uint64_t handle_of(int rank, std::uint64_t slot) const {
    return static_cast<std::uint64_t>(rank) * stride_ + slot;
  }
  int rank_of(std::uint64_t handle) const { return static_cast<int>(handle / stride_); }
  std::uint64_t slot_of(std::uint64_t handle) const { return handle % stride_; }
  double* slot(std::uint64_t index) { return mine_ + index * static_cast<std::uint64_t>(cols_); }

  Team& team_;
  Index cols_, count_;
  bool several_nodes_ = false;
  std::unique_ptr<SharedMemory> memory_;
  double* mine_ = nullptr;
  std::uint64_t stride_ = 1;         // handle = rank * stride + slot
  std::vector<double*> parts_;       // of all ranks; null on other nodes
  std::vector<std::uint64_t> free_;  // slots of this rank's part that hold no row
};

}  // namespace gsc
