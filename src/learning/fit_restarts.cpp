// Several random starts side by side, on the threads of this process and on the ranks of a team. Each runs on one
// thread, so its bits do not depend on how many run at a time.

#include <gsc/restarts.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "learning/pack_fit.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

/// Lets starts that run side by side share a watcher that knows nothing of threads.
class SharedWatcher final : public Watcher {
 public:
  explicit SharedWatcher(Watcher* watcher) : watcher_(watcher) {}
  /// All starts have the same to say, so each note is passed on once.
  void on_note(const std::string& note) override {
    const std::lock_guard lock(mutex_);
    if (watcher_ != nullptr && notes_.insert(note).second) watcher_->on_note(note);
  }
  void on_iteration(const FitState& state) override {
    const std::lock_guard lock(mutex_);
    if (watcher_ != nullptr) watcher_->on_iteration(state);
  }
  bool stop_requested() override {
    const std::lock_guard lock(mutex_);
    // Once asked to stop, all stop, also those that would have to be asked again.
    return stopped_ = stopped_ || (watcher_ != nullptr && watcher_->stop_requested());
  }

 private:
  std::mutex mutex_;
  Watcher* watcher_;
  bool stopped_ = false;
  std::set<std::string> notes_;
};

struct Start {
  FitResult result;
  std::exception_ptr error;  ///< a gsc::Error: numbers out of range, impossible data
  std::exception_ptr fatal;  ///< anything else: no memory
  bool has_row() const { return !result.state.history.empty(); }
};

/// Start `number`; the first may have a model to start from.
Start run(const Data& data, FitOptions options, std::size_t number, const std::optional<Model>& first,
          Watcher& watcher) {
  Start start;
  options.seed += number;
  try {
    start.result = fit(data, options, &watcher, number == 0 ? first : std::nullopt);
  } catch (const Error&) {
    start.error = std::current_exception();
  } catch (...) {
    start.fatal = std::current_exception();
  }
  return start;
}

/// What starts are ranked by: the objective in the end; of draws, which go up and down, the mean over those averaged.
double worth(const Start& start) {
  const FitResult& result = start.result;
  return result.state.method.number("mean_log_joint", result.last().free_energy);
}

/// The start with the best objective, the first of equals; the end if none has a row.
std::vector<Start>::iterator best_of(std::vector<Start>& starts, Method method) {
  auto best = starts.end();
  for (auto start = starts.begin(); start != starts.end(); ++start)
    if (start->has_row() && (best == starts.end() || better(method, worth(*start), worth(*best)))) best = start;
  return best;
}

/// Start i is run by rank i modulo their number.
bool is_mine(const Team& team, std::size_t start) {
  return start % static_cast<std::size_t>(team.size()) == static_cast<std::size_t>(team.rank());
}

/// How a start ended, for the other ranks.
Bytes outcome_of(const Start& start) {
  std::string message;
  try {
    if (start.error) std::rethrow_exception(start.error);
  } catch (const Error& error) {
    message = error.what();
  }
  const IterationReport row = start.has_row() ? start.result.last() : IterationReport();
  const double value = start.has_row() ? worth(start) : 0;
  return (Packer() << start.has_row() << value << row.noise_std << start.result.reason << message).take();
}

void take_outcome(const Bytes& bytes, Start& start) {
  Unpacker unpacker(bytes);
  const bool has_row = unpacker.next<bool>();
  IterationReport row;
  unpacker >> row.free_energy >> row.noise_std >> start.result.reason;
  if (has_row) start.result.state.history.assign(1, row);
  const auto message = unpacker.next<std::string>();
  if (!message.empty()) start.error = std::make_exception_ptr(Error(message));
}

/// Tells all ranks how every start ended.
void share_outcomes(Team& team, std::vector<Start>& starts) {
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const int from = static_cast<int>(i % static_cast<std::size_t>(team.size()));
    const Bytes outcome = team.broadcast(is_mine(team, i) ? outcome_of(starts[i]) : Bytes(), from);
    if (!is_mine(team, i)) take_outcome(outcome, starts[i]);
  }
}

/// All ranks work on one start after the other.
std::vector<Start> one_by_one(const Data& data, const FitOptions& options, int restarts,
                              const std::optional<Model>& first, Watcher& watcher) {
  std::vector<Start> starts(static_cast<std::size_t>(restarts));
  for (std::size_t i = 0; i < starts.size(); ++i) {
    starts[i] = run(data, options, i, first, watcher);
    if (starts[i].fatal) std::rethrow_exception(starts[i].fatal);
    if (!starts[i].error && starts[i].result.reason == StopReason::interrupted) break;  // on all ranks, or on none
  }
  return starts;
}

std::vector<Start> side_by_side(const Data& data, const FitOptions& options, int restarts,
                                const std::optional<Model>& first, Watcher& watcher) {
  Team& team = *options.sharing.team;
  std::vector<Start> starts(static_cast<std::size_t>(restarts));
  const int threads = std::min(thread_count(options.inference.threads), restarts);
  all_or_none(team, [&] {
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (std::size_t i = 0; i < starts.size(); ++i) {
      if (!is_mine(team, i)) continue;
      starts[i].result.reason = StopReason::interrupted;
      if (watcher.stop_requested()) continue;
      FitOptions single = options;
      single.inference.threads = 1;
      single.sharing = {};
      single.sharing.partition = options.sharing.partition;
      starts[i] = run(data, single, i, first, watcher);
    }
    for (const Start& start : starts)
      if (start.fatal) std::rethrow_exception(start.fatal);
  });
  share_outcomes(team, starts);
  return starts;
}

/// Gives all ranks the result of the start that one of them has run.
void share_winner(Team& team, Start& best, std::size_t winner) {
  Packer packer;
  if (is_mine(team, winner)) packer << best.result;
  const Bytes bytes = team.broadcast(packer.take(), static_cast<int>(winner % static_cast<std::size_t>(team.size())));
  if (!is_mine(team, winner)) best.result = Unpacker(bytes).next<FitResult>();
}

}  // namespace

Restarts fit_restarts(const Data& data, const FitOptions& asked, int restarts, Watcher* watcher,
                      const std::optional<Model>& first) {
  const NumericScope scope;
  asked.validate();
  FitOptions options = asked;
  // Estimates of different starts cannot be compared; a single full row judges, and changes nothing.
  if (options.batch > 0 && restarts > 1) options.polish = std::max(options.polish, 1);
  if (restarts < 1) throw UsageError("restarts is " + std::to_string(restarts) + "; it must be at least 1");
  Team& team = *options.sharing.team;
  SharedWatcher shared(watcher);
  const bool rows_are_shared = !team.alone() && (restarts == 1 || data.root_only());
  std::vector<Start> starts = rows_are_shared ? one_by_one(data, options, restarts, first, shared)
                                              : side_by_side(data, options, restarts, first, shared);
  Restarts result;
  for (const Start& start : starts) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    result.free_energies.push_back(start.has_row() ? worth(start) : kNone);
    result.noise_stds.push_back(start.has_row() ? start.result.last().noise_std : kNone);
  }
  const auto best = best_of(starts, options.inference.method);
  if (best == starts.end()) {
    for (const Start& start : starts)
      if (start.error) std::rethrow_exception(start.error);
    throw Interrupted("interrupted before the first iteration");
  }
  const auto winner = static_cast<std::size_t>(best - starts.begin());
  if (!rows_are_shared) share_winner(team, *best, winner);
  // The best of some is not the best of all: an interrupted search says so.
  if (std::any_of(starts.begin(), starts.end(),
                  [](const Start& start) { return !start.error && start.result.reason == StopReason::interrupted; }))
    best->result.reason = StopReason::interrupted;
  result.winner = static_cast<int>(winner);
  result.best = std::move(best->result);
  return result;
}

StartsSummary compare_starts(const std::vector<double>& free_energies) {
  StartsSummary summary;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double best = -kInfinity, worst = kInfinity;
  for (const double value : free_energies) {
    if (std::isnan(value)) {
      ++summary.failed;
      continue;
    }
    best = std::max(best, value);
    worst = std::min(worst, value);
  }
  summary.range = best - worst;
  summary.near = std::count_if(free_energies.begin(), free_energies.end(), [&](double f) { return f > best - 1; });
  return summary;
}

}  // namespace gsc
