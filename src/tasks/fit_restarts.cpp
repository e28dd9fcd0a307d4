// Several random starts side by side. Each runs on one thread, so its bits do not depend on how many run at a time.

#include <gsc/separate.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <string>

#include "inference/blas.h"

namespace gsc {
namespace {

/// Lets starts that run side by side share an observer that knows nothing of threads.
class SharedObserver final : public Observer {
 public:
  explicit SharedObserver(Observer* observer) : observer_(observer) {}
  void on_iteration(const FitState& state) override {
    const std::lock_guard lock(mutex_);
    if (observer_ != nullptr) observer_->on_iteration(state);
  }
  bool stop_requested() override {
    const std::lock_guard lock(mutex_);
    // Once asked to stop, all stop, also those that would have to be asked again.
    return stopped_ = stopped_ || (observer_ != nullptr && observer_->stop_requested());
  }

 private:
  std::mutex mutex_;
  Observer* observer_;
  bool stopped_ = false;
};

struct Start {
  FitResult result;
  std::exception_ptr error;  ///< a gsc::Error: numbers out of range, impossible data
  std::exception_ptr fatal;  ///< anything else: no memory
  bool has_row() const { return !result.state.history.empty(); }
};

Start run(const Data& data, const FitOptions& options, Observer& observer) {
  Start start;
  start.result.reason = StopReason::interrupted;
  if (observer.stop_requested()) return start;
  try {
    start.result = fit(data, options, &observer);
  } catch (const Error&) {
    start.error = std::current_exception();
  } catch (...) {
    start.fatal = std::current_exception();
  }
  return start;
}

/// The start with the highest free energy, the first of equals; the end if none has a row.
std::vector<Start>::iterator best_of(std::vector<Start>& starts) {
  auto best = starts.end();
  for (auto start = starts.begin(); start != starts.end(); ++start)
    if (start->has_row() &&
        (best == starts.end() || start->result.last().free_energy > best->result.last().free_energy))
      best = start;
  return best;
}

}  // namespace

FitResult fit_restarts(const Data& data, const FitOptions& options, int restarts, std::vector<double>* free_energies,
                       Observer* observer) {
  options.validate();
  if (restarts < 1) throw UsageError("restarts is " + std::to_string(restarts) + "; it must be at least 1");
  SharedObserver shared(observer);
  std::vector<Start> starts(restarts);
  const int threads = std::min(thread_count(options.inference.threads), restarts);
  use_one_blas_thread();  // once here, so that the starts, which call it too, change nothing under each other
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int i = 0; i < restarts; ++i) {
    FitOptions single = options;
    single.inference.threads = 1;
    single.seed = options.seed + static_cast<std::uint64_t>(i);
    starts[i] = run(data, single, shared);
  }

  for (const Start& start : starts)
    if (start.fatal) std::rethrow_exception(start.fatal);
  if (free_energies != nullptr) {
    free_energies->clear();
    for (const Start& start : starts)
      free_energies->push_back(start.has_row() ? start.result.last().free_energy
                                               : std::numeric_limits<double>::quiet_NaN());
  }
  const auto best = best_of(starts);
  if (best == starts.end()) {
    for (const Start& start : starts)
      if (start.error) std::rethrow_exception(start.error);
    throw Interrupted("interrupted before the first iteration");
  }
  // The best of some is not the best of all: an interrupted search says so.
  if (std::any_of(starts.begin(), starts.end(),
                  [](const Start& start) { return !start.error && start.result.reason == StopReason::interrupted; }))
    best->result.reason = StopReason::interrupted;
  return std::move(best->result);
}

}  // namespace gsc
