#include <gsc/inference.h>
#include <gsc/mpi.h>
#include <mpi.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <thread>

#include "distributed/packing.h"

namespace gsc {
namespace {

/// Counts of MPI are ints; larger messages go in pieces.
constexpr std::size_t kPiece = std::size_t{1} << 30;

/// How long a rank that failed waits for the others to fail too, before it ends them.
constexpr auto kPatience = std::chrono::seconds(2);

/// Calls body(first, count) for pieces of a message.
template <class Body>
void in_pieces(std::size_t size, const Body& body) {
  for (std::size_t first = 0; first < size; first += kPiece)
    body(first, static_cast<int>(std::min(kPiece, size - first)));
}

class Window final : public SharedMemory {
 public:
  Window(MPI_Comm node, const std::vector<int>& rank_in_node, Index count) : rank_in_node_(rank_in_node) {
    double* base = nullptr;
    // One double at least: some implementations give no address for nothing.
    MPI_Win_allocate_shared(static_cast<MPI_Aint>(std::max<Index>(1, count) * static_cast<Index>(sizeof(double))),
                            sizeof(double), MPI_INFO_NULL, node, static_cast<void*>(&base), &window_);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window_);
    MPI_Comm_dup(node, &node_);
  }
  ~Window() override {
    // All ranks must free it together. One that fails alone must not wait for the others here; finish() ends them.
    if (std::uncaught_exceptions() > 0) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
    MPI_Comm_free(&node_);
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  double* of(int rank) override {
    MPI_Aint size = 0;
    int unit = 0;
    double* base = nullptr;
    MPI_Win_shared_query(window_, rank_in_node_[static_cast<std::size_t>(rank)], &size, &unit,
                         static_cast<void*>(&base));
    return base;
  }
  void publish() override {
    MPI_Win_sync(window_);
    MPI_Barrier(node_);
    MPI_Win_sync(window_);
  }

 private:
  std::vector<int> rank_in_node_;
  MPI_Win window_ = MPI_WIN_NULL;
  MPI_Comm node_ = MPI_COMM_NULL;
};

/// Cores that the ranks of a node may use together, over their number.
int threads_per_rank(MPI_Comm node) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  sched_getaffinity(0, sizeof mine, &mine);
  cpu_set_t all = mine;
  MPI_Allreduce(&mine, &all, sizeof mine, MPI_BYTE, MPI_BOR, node);
  int ranks = 1, cores = thread_count(0);
  MPI_Comm_size(node, &ranks);
  MPI_Allreduce(MPI_IN_PLACE, &cores, 1, MPI_INT, MPI_MAX, node);
  const int shared = cores * CPU_COUNT(&all) / std::max(1, CPU_COUNT(&mine));
  return std::clamp(shared / ranks, 1, std::max(1, thread_count(0)));
}

}  // namespace

struct MpiTeam::Communicators {
  MPI_Comm world = MPI_COMM_NULL;   // a copy, so that nobody else's messages are met
  MPI_Comm node = MPI_COMM_NULL;    // the ranks of this node
  MPI_Comm ending = MPI_COMM_NULL;  // for finish()
  std::vector<int> rank_in_node;    // of the ranks of this node, by rank in the world
};

MpiTeam::MpiTeam() : mpi_(std::make_unique<Communicators>()) {
  int level = 0, size = 1;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_dup(MPI_COMM_WORLD, &mpi_->world);
  MPI_Comm_dup(MPI_COMM_WORLD, &mpi_->ending);
  MPI_Comm_rank(mpi_->world, &rank_);
  MPI_Comm_size(mpi_->world, &size);
  // GSC_RANKS_PER_NODE lets one machine stand for several, to try what happens between nodes.
  const char* variable = std::getenv("GSC_RANKS_PER_NODE");
  if (const int per_node = variable != nullptr ? std::atoi(variable) : 0; per_node > 0)
    MPI_Comm_split(mpi_->world, rank_ / per_node, rank_, &mpi_->node);
  else
    MPI_Comm_split_type(mpi_->world, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &mpi_->node);
  // A node is called by its first rank.
  int first = rank_, in_node = 0;
  MPI_Bcast(&first, 1, MPI_INT, 0, mpi_->node);
  MPI_Comm_rank(mpi_->node, &in_node);
  nodes_.resize(static_cast<std::size_t>(size));
  mpi_->rank_in_node.resize(static_cast<std::size_t>(size));
  MPI_Allgather(&first, 1, MPI_INT, nodes_.data(), 1, MPI_INT, mpi_->world);
  MPI_Allgather(&in_node, 1, MPI_INT, mpi_->rank_in_node.data(), 1, MPI_INT, mpi_->world);
  threads_ = threads_per_rank(mpi_->node);
}

MpiTeam::~MpiTeam() {
  MPI_Comm_free(&mpi_->node);
  MPI_Comm_free(&mpi_->ending);
  MPI_Comm_free(&mpi_->world);
  MPI_Finalize();
}

void MpiTeam::sum(double* values, Index count) {
  // Not an all-reduce, which need not give all ranks the same bits: they would then disagree on when to stop.
  in_pieces(static_cast<std::size_t>(count), [&](std::size_t first, int size) {
    MPI_Reduce(rank_ == 0 ? MPI_IN_PLACE : values + first, values + first, size, MPI_DOUBLE, MPI_SUM, 0, mpi_->world);
    MPI_Bcast(values + first, size, MPI_DOUBLE, 0, mpi_->world);
  });
}

Bytes MpiTeam::broadcast(Bytes bytes, int from) {
  std::uint64_t size = bytes.size();
  MPI_Bcast(&size, 1, MPI_UINT64_T, from, mpi_->world);
  bytes.resize(size);
  in_pieces(size,
            [&](std::size_t first, int count) { MPI_Bcast(bytes.data() + first, count, MPI_BYTE, from, mpi_->world); });
  return bytes;
}

std::vector<Bytes> MpiTeam::gather(Bytes bytes) {
  const std::size_t ranks = nodes_.size();
  const std::uint64_t mine = bytes.size();
  std::vector<std::uint64_t> sizes(ranks);
  MPI_Allgather(&mine, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, mpi_->world);
  std::vector<Bytes> all(ranks);
  std::uint64_t total = 0;
  for (const std::uint64_t size : sizes) total += size;
  if (total > kPiece) {
    for (std::size_t r = 0; r < ranks; ++r)
      all[r] = broadcast(static_cast<int>(r) == rank_ ? bytes : Bytes(), static_cast<int>(r));
    return all;
  }
  std::vector<int> counts(ranks), starts(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    counts[r] = static_cast<int>(sizes[r]);
    if (r > 0) starts[r] = starts[r - 1] + counts[r - 1];
  }
  Bytes joined(total);
  MPI_Allgatherv(bytes.data(), static_cast<int>(mine), MPI_BYTE, joined.data(), counts.data(), starts.data(), MPI_BYTE,
                 mpi_->world);
  for (std::size_t r = 0; r < ranks; ++r)
    all[r].assign(joined.begin() + starts[r], joined.begin() + starts[r] + counts[r]);
  return all;
}

std::vector<Bytes> MpiTeam::exchange(std::vector<Bytes> outgoing) {
  const std::size_t ranks = nodes_.size(), me = static_cast<std::size_t>(rank_);
  std::vector<std::uint64_t> out_sizes(ranks), in_sizes(ranks);
  for (std::size_t r = 0; r < ranks; ++r) out_sizes[r] = outgoing[r].size();
  MPI_Alltoall(out_sizes.data(), 1, MPI_UINT64_T, in_sizes.data(), 1, MPI_UINT64_T, mpi_->world);
  std::vector<Bytes> incoming(ranks);
  std::vector<MPI_Request> requests;
  const auto for_others = [&](const auto& body) {
    for (std::size_t r = 0; r < ranks; ++r)
      if (r != me) body(r);
  };
  for_others([&](std::size_t r) {
    incoming[r].resize(in_sizes[r]);
    in_pieces(in_sizes[r], [&](std::size_t first, int count) {
      MPI_Irecv(incoming[r].data() + first, count, MPI_BYTE, static_cast<int>(r), 0, mpi_->world,
                &requests.emplace_back());
    });
  });
  for_others([&](std::size_t r) {
    in_pieces(out_sizes[r], [&](std::size_t first, int count) {
      MPI_Isend(outgoing[r].data() + first, count, MPI_BYTE, static_cast<int>(r), 0, mpi_->world,
                &requests.emplace_back());
    });
  });
  incoming[me] = std::move(outgoing[me]);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  return incoming;
}

std::unique_ptr<SharedMemory> MpiTeam::share(Index count) {
  return std::make_unique<Window>(mpi_->node, mpi_->rank_in_node, count);
}

int MpiTeam::finish(int code, const std::string& message) {
  struct {
    int code, rank;
  } mine{code, rank_}, worst{0, 0};
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, mpi_->ending, &request);
  int done = 0;
  const auto start = std::chrono::steady_clock::now();
  for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); done == 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE)) {
    if (code != 0 && std::chrono::steady_clock::now() - start > kPatience) {
      std::fputs((message + "\n").c_str(), stderr);
      std::fflush(stderr);
      MPI_Abort(MPI_COMM_WORLD, code);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  if (worst.code != 0 && worst.rank == rank_ && !message.empty()) std::fputs((message + "\n").c_str(), stderr);
  return worst.code;
}

}  // namespace gsc
