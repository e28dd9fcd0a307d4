#include "trials.h"

#include <gsc/inference.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>

namespace gsc::experiments {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

/// Adds a line to the file and sees it written.
class Keeper {
 public:
  explicit Keeper(const fs::path& file) : name_(file.string()) {
    // After a crash the last line may have no end.
    std::ifstream old(file, std::ios::binary | std::ios::ate);
    const bool torn = old && old.tellg() > 0 && (old.seekg(-1, std::ios::end), old.get() != '\n');
    out_.open(file, std::ios::app);
    if (torn) out_ << '\n';
    check();
  }
  void keep(const Finished& trial) {
    out_ << Json{{"settings", trial.settings}, {"result", trial.result}, {"seconds", trial.seconds}}.dump() << '\n';
    out_.flush();
    check();
  }

 private:
  void check() const {
    if (!out_) throw Error(name_ + ": cannot be written to (is the disk full, or the folder protected?)");
  }
  std::string name_;
  std::ofstream out_;
};

Finished run_one(const Experiment& experiment, const Json& settings, const Request& request) {
  const auto start = Clock::now();
  Finished trial{settings, {}, 0};
  try {
    trial.result = experiment.run(settings, request);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(experiment.name() + ", trial " + settings.dump() + ": " + error.what());
  }
  trial.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return trial;
}

}  // namespace

std::vector<Finished> read_trials(const fs::path& file) {
  std::vector<Finished> trials;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    const Json json = Json::parse(line, nullptr, false);
    if (json.is_object() && json.contains("settings") && json.contains("result") && json.contains("seconds"))
      trials.push_back({json["settings"], json["result"], json["seconds"].get<double>()});
  }
  return trials;
}

std::vector<Finished> run_trials(const Experiment& experiment, const Request& request, const fs::path& file,
                                 const TrialsObserver& observer) {
  const std::vector<Json> wanted = experiment.trials(request);
  std::map<std::string, Finished> known;
  for (Finished& trial : read_trials(file)) known.insert_or_assign(trial.settings.dump(), std::move(trial));
  std::vector<Json> left;
  for (const Json& settings : wanted)
    if (!known.contains(settings.dump())) left.push_back(settings);

  Keeper keeper(file);
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> stop = false;
  const auto start = Clock::now();
  const auto count = static_cast<int>(left.size());
  TrialsProgress progress{static_cast<int>(wanted.size()) - count, static_cast<int>(wanted.size()), -1};
  const int before = progress.done;
  if (observer && !observer(progress)) throw Interrupted("interrupted");
  const int threads = experiment.side_by_side() ? std::clamp(request.threads, 1, std::max(1, count)) : 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int i = 0; i < count; ++i) {
    if (stop) continue;
    try {
      Finished trial = run_one(experiment, left[static_cast<std::size_t>(i)], request);
      const std::lock_guard lock(mutex);
      keeper.keep(trial);
      known.insert_or_assign(trial.settings.dump(), std::move(trial));
      ++progress.done;
      const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
      progress.seconds_left = seconds * (progress.all - progress.done) / (progress.done - before);
      if (observer && !observer(progress)) throw Interrupted("interrupted");
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  }
  if (failure) std::rethrow_exception(failure);

  std::vector<Finished> finished;
  finished.reserve(wanted.size());
  for (const Json& settings : wanted) finished.push_back(known.at(settings.dump()));
  return finished;
}

}  // namespace gsc::experiments
