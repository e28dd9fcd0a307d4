#include "distributed/thread_team.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

namespace gsc {
namespace {

/// What the ranks have in common.
class Meeting {
 public:
  explicit Meeting(int ranks)
      : letters(static_cast<std::size_t>(ranks)), numbers(static_cast<std::size_t>(ranks)), ranks_(ranks) {}

  /// Returns when all ranks have come here.
  void wait() {
    std::unique_lock lock(mutex_);
    const auto round = round_;
    if (!failure_ && ++waiting_ == ranks_) {
      waiting_ = 0;
      ++round_;
      all_here_.notify_all();
    } else {
      all_here_.wait(lock, [&] { return round_ != round || failure_; });
    }
    if (round_ == round) throw Error("another rank has failed");
  }
  void fail(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::move(failure);
    all_here_.notify_all();
  }
  std::exception_ptr failure() const { return failure_; }

  // Between two wait()s each rank writes its own entry, after the second all may be read.
  std::vector<std::vector<Bytes>> letters;  ///< by sender; one for all, or one for each rank
  std::vector<double*> numbers;
  std::vector<double> total;

 private:
  int ranks_, waiting_ = 0;
  std::int64_t round_ = 0;
  std::mutex mutex_;
  std::condition_variable all_here_;
  std::exception_ptr failure_;
};

class ThreadMemory final : public SharedMemory {
 public:
  ThreadMemory(Meeting& meeting, Index count, int rank) : meeting_(meeting), own_(static_cast<std::size_t>(count)) {
    meeting.numbers[static_cast<std::size_t>(rank)] = own_.data();
    meeting.wait();
    parts_ = meeting.numbers;
    meeting.wait();
  }
  double* of(int rank) override { return parts_[static_cast<std::size_t>(rank)]; }
  void publish() override { meeting_.wait(); }

 private:
  Meeting& meeting_;
  std::vector<double> own_;
  std::vector<double*> parts_;
};

class ThreadTeam final : public Team {
 public:
  ThreadTeam(Meeting& meeting, int rank, int size, int per_node)
      : meeting_(meeting), rank_(rank), size_(size), per_node_(per_node) {}
  int rank() const override { return rank_; }
  int size() const override { return size_; }
  int node(int rank) const override { return per_node_ > 0 ? rank / per_node_ : 0; }

  void sum(double* values, Index count) override {
    meeting_.numbers[me()] = values;
    meeting_.wait();
    if (rank_ == 0) {
      meeting_.total.assign(values, values + count);
      for (std::size_t r = 1; r < meeting_.numbers.size(); ++r)
        for (Index i = 0; i < count; ++i) meeting_.total[static_cast<std::size_t>(i)] += meeting_.numbers[r][i];
    }
    meeting_.wait();
    std::copy_n(meeting_.total.begin(), count, values);
    meeting_.wait();
  }
  Bytes broadcast(Bytes bytes, int from) override { return gather(std::move(bytes))[static_cast<std::size_t>(from)]; }
  std::vector<Bytes> gather(Bytes bytes) override {
    meeting_.letters[me()].assign(1, std::move(bytes));
    meeting_.wait();
    std::vector<Bytes> all;
    for (const auto& from : meeting_.letters) all.push_back(from[0]);
    meeting_.wait();
    return all;
  }
  std::vector<Bytes> exchange(std::vector<Bytes> outgoing) override {
    meeting_.letters[me()] = std::move(outgoing);
    meeting_.wait();
    std::vector<Bytes> incoming;
    for (auto& from : meeting_.letters) incoming.push_back(std::move(from[me()]));
    meeting_.wait();
    return incoming;
  }
  std::unique_ptr<SharedMemory> share(Index count) override {
    return std::make_unique<ThreadMemory>(meeting_, count, rank_);
  }

 private:
  std::size_t me() const { return static_cast<std::size_t>(rank_); }
  Meeting& meeting_;
  int rank_, size_, per_node_;
};

}  // namespace

void run_ranks(int ranks, int per_node, const std::function<void(Team&)>& body) {
  Meeting meeting(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        ThreadTeam team(meeting, rank, ranks, per_node);
        body(team);
      } catch (...) {
        meeting.fail(std::current_exception());
      }
    });
  for (std::thread& thread : threads) thread.join();
  if (meeting.failure()) std::rethrow_exception(meeting.failure());
}

}  // namespace gsc
