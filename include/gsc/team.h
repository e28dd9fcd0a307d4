#pragma once
// Several processes that work on one problem together (docs/cluster.md). Nothing here needs MPI.

#include <gsc/data.h>
#include <gsc/export.h>
#include <gsc/types.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace gsc {

using Bytes = std::vector<std::byte>;

/// Memory of which every rank of a node owns a part and sees the others'.
class GSC_EXPORT SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  virtual double* of(int rank) = 0;  ///< the part of a rank of this node
  virtual void publish() {}          ///< on all ranks of the team: what was written before is seen by all after
};

/// Processes, called ranks, that all call the same functions in the same order. This class is the team of one;
/// MpiTeam (gsc/mpi.h) is that of mpirun.
class GSC_EXPORT Team {
 public:
  virtual ~Team() = default;
  virtual int rank() const { return 0; }
  virtual int size() const { return 1; }
  virtual int node(int /*rank*/) const { return 0; }  ///< ranks of a node share memory
  bool root() const { return rank() == 0; }           ///< the one that prints and writes files
  bool alone() const { return size() == 1; }

  /// Adds up the ranks' values, element by element. All get the same bits.
  virtual void sum(double* values, Index count);
  /// All get what `from` has.
  virtual Bytes broadcast(Bytes bytes, int from);
  /// All get what every rank has.
  virtual std::vector<Bytes> gather(Bytes bytes);
  /// outgoing[r] goes to rank r; returns what came from each rank.
  virtual std::vector<Bytes> exchange(std::vector<Bytes> outgoing);
  /// `count` doubles for this rank.
  virtual std::unique_ptr<SharedMemory> share(Index count);
};

/// The team of one.
GSC_EXPORT Team& solo();

/// Runs this rank's part of a piece of work. If any rank's part throws, all ranks throw what the first of them did
/// (Interrupted and UsageError as such), so that nobody waits for one who has given up.
GSC_EXPORT void all_or_none(Team& team, const std::function<void()>& part);

/// Which rows a rank works on.
///   uniform ("static"): a contiguous share, always the same.
///   local:  that share, sorted before every E-step so that rows with equal candidates are neighbours and share a tree.
///   global: the same over all ranks: rows go to where their cluster is.
enum class Partition { uniform, local, global };

struct GSC_EXPORT SharingOptions {
  Team* team = &solo();
  Partition partition = Partition::uniform;
  /// global: clusters larger than the top `alpha` percent of the cluster sizes are cut, to balance the load.
  double alpha = 5;
};

/// What sharing cost, and what the clusters were like at the last E-step.
struct SharingReport {
  double seconds_waiting = 0;     ///< for the slowest rank
  double seconds_summing = 0;     ///< all-reduce of the statistics
  double seconds_clustering = 0;  ///< finding and merging clusters, deciding who gets them
  double seconds_moving = 0;      ///< index lists and rows to other ranks
  double rows_moved = 0;          ///< to another rank, over all ranks and iterations
  double rows_sent = 0;           ///< of these, to another node
  double clusters = 0;            ///< different candidate sets, over all ranks (local: summed over the ranks)
  double rows_in_clusters = 0;    ///< rows in clusters large enough to share a tree
};

/// Data that only the root holds: the others know its shape. fit() hands every rank its rows.
class GSC_EXPORT RootData final : public Data {
 public:
  /// `data` is null on all ranks but the root.
  RootData(Team& team, std::unique_ptr<Data> data);
  Index rows() const override { return rows_; }
  Index cols() const override { return cols_; }
  void read(Index first, Eigen::Ref<Matrix> block) const override;
  std::string name() const override { return name_; }
  std::vector<std::string> column_names() const override { return column_names_; }
  bool root_only() const override { return true; }

 private:
  std::unique_ptr<Data> data_;
  Index rows_ = 0, cols_ = 0;
  std::string name_;
  std::vector<std::string> column_names_;
};

GSC_EXPORT std::string_view to_string(Partition partition);

}  // namespace gsc
