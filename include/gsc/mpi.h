#pragma once
// The team of mpirun (docs/cluster.md). Target gsc::mpi, in builds with GSC_MPI.

#include <gsc/export.h>
#include <gsc/team.h>

#include <string>

namespace gsc {

/// Starts MPI and ends it. One per process.
class GSC_EXPORT MpiTeam final : public Team {
 public:
  MpiTeam();
  ~MpiTeam() override;
  MpiTeam(const MpiTeam&) = delete;
  MpiTeam& operator=(const MpiTeam&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(nodes_.size()); }
  int node(int rank) const override { return nodes_[static_cast<std::size_t>(rank)]; }
  void sum(double* values, Index count) override;
  Bytes broadcast(Bytes bytes, int from) override;
  std::vector<Bytes> gather(Bytes bytes) override;
  std::vector<Bytes> exchange(std::vector<Bytes> outgoing) override;
  std::unique_ptr<SharedMemory> share(Index count) override;

  /// Cores of this node over its ranks.
  int threads() const { return threads_; }

  /// Comes last, on every rank, with the code it would exit with and what there is to complain about. Returns the code
  /// for all. The message of the first rank that failed is printed. A rank that fails while the others go on (and may
  /// be waiting for it) ends them all.
  int finish(int code, const std::string& message);

 private:
  struct Communicators;  // mpi.h stays out of this header
  std::unique_ptr<Communicators> mpi_;
  int rank_ = 0, threads_ = 1;
  std::vector<int> nodes_;  // by rank
};

}  // namespace gsc
