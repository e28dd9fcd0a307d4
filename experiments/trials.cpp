#include "trials.h"

#include <gsc/inference.h>
#include <gsc/stopwatch.h>
#include <gsc/team.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <functional>
#include <map>
#include <mutex>
#include <sstream>

#include "distributed/packing.h"

namespace gsc::experiments {
namespace {

namespace fs = std::filesystem;

std::string as_line(const Finished& trial) {
  return Json{{"settings", trial.settings}, {"result", trial.result}, {"seconds", trial.seconds}}.dump();
}

std::optional<Finished> from_line(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object() || !json.contains("settings") || !json.contains("result") || !json.contains("seconds"))
    return {};
  return Finished{json["settings"], json["result"], json["seconds"].get<double>()};
}

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
    out_ << as_line(trial) << '\n';
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
  const Stopwatch watch;
  Finished trial{settings, {}, 0};
  try {
    trial.result = experiment.run(settings, request);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(experiment.name() + ", trial " + settings.dump() + ": " + error.what());
  }
  trial.seconds = watch.seconds();
  return trial;
}

/// The root's side: what is finished, in memory and in the file.
class Finishers {
 public:
  Finishers(const Experiment& experiment, const Request& request, const fs::path& file, const TrialsObserver& observer)
      : experiment_(experiment), wanted_(experiment.trials(request)), observer_(observer) {
    for (Finished& trial : read_trials(file)) known_.insert_or_assign(trial.settings.dump(), std::move(trial));
    for (const Json& settings : wanted_)
      if (!known_.contains(settings.dump())) {
        left.push_back(settings);
        work_left_ += experiment.work(settings);
      }
    const auto all = static_cast<int>(wanted_.size());
    progress_ = {all - static_cast<int>(left.size()), all, -1};
    keeper_.emplace(file);
    ask_observer();
  }

  void add(Finished trial) {
    keeper_->keep(trial);
    const double work = experiment_.work(trial.settings);
    known_.insert_or_assign(trial.settings.dump(), std::move(trial));
    ++progress_.done;
    work_done_ += work;
    work_left_ -= work;
    progress_.seconds_left = watch_.seconds() * work_left_ / work_done_;
    ask_observer();
  }

  std::vector<Finished> all() const {
    std::vector<Finished> finished;
    finished.reserve(wanted_.size());
    for (const Json& settings : wanted_) finished.push_back(known_.at(settings.dump()));
    return finished;
  }

  std::vector<Json> left;

 private:
  void ask_observer() const {
    if (observer_ && observer_(progress_)) throw Interrupted("interrupted");
  }

  const Experiment& experiment_;
  std::vector<Json> wanted_;
  std::map<std::string, Finished> known_;
  std::optional<Keeper> keeper_;
  const TrialsObserver& observer_;
  TrialsProgress progress_;
  double work_done_ = 0, work_left_ = 0;  // done: since the start of this run
  Stopwatch watch_;
};

/// Runs trials on several threads and calls done(trial) from one at a time.
void run_side_by_side(const Experiment& experiment, const Request& request, const std::vector<Json>& trials,
                      const std::function<void(Finished)>& done) {
  std::mutex mutex;
  std::exception_ptr failure;
  std::atomic<bool> stop = false;
  const int threads =
      experiment.side_by_side() ? std::clamp(request.threads, 1, std::max(1, static_cast<int>(trials.size()))) : 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (stop) continue;
    try {
      Finished trial = run_one(experiment, trials[i], request);
      const std::lock_guard lock(mutex);
      done(std::move(trial));
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  }
  if (failure) std::rethrow_exception(failure);
}

/// Which trials a rank runs before the ranks tell each other.
struct Round {
  std::size_t first, mine, end;  // mine: the first of this rank; the next follow at a distance of `step`
  std::size_t step;
};

Round round_from(std::size_t first, std::size_t count, const Experiment& experiment, const Request& request) {
  const auto ranks = static_cast<std::size_t>(request.team->size()),
             rank = static_cast<std::size_t>(request.team->rank());
  if (ranks == 1) return {first, first, count, 1};
  if (experiment.by_whole_team()) return {first, first, first + 1, 1};
  // Where times are compared the others wait for the root.
  if (!experiment.side_by_side()) return {first, rank == 0 ? first : count, first + 1, 1};
  const std::size_t trials = ranks * 4 * static_cast<std::size_t>(request.threads);
  return {first, first + rank, std::min(count, first + trials), ranks};
}

std::vector<Json> broadcast(Team& team, const std::vector<Json>& trials) {
  const Bytes bytes = team.broadcast((Packer() << Json(trials).dump()).take(), 0);
  return Json::parse(Unpacker(bytes).next<std::string>()).get<std::vector<Json>>();
}

}  // namespace

std::vector<Finished> read_trials(const fs::path& file) {
  std::vector<Finished> trials;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);)
    if (std::optional<Finished> trial = from_line(line)) trials.push_back(std::move(*trial));
  return trials;
}

std::vector<Finished> run_trials(const Experiment& experiment, const Request& request, const fs::path& file,
                                 const TrialsObserver& observer) {
  Team& team = *request.team;
  std::optional<Finishers> finishers;
  all_or_none(team, [&] {
    if (team.root()) finishers.emplace(experiment, request, file, observer);
  });
  const std::vector<Json> left = broadcast(team, finishers ? finishers->left : std::vector<Json>());
  for (std::size_t first = 0; first < left.size();) {
    const Round round = round_from(first, left.size(), experiment, request);
    std::vector<Json> mine;
    for (std::size_t i = round.mine; i < round.end; i += round.step) mine.push_back(left[i]);
    std::string lines;  // of ranks that cannot write them themselves
    std::exception_ptr failure;
    try {
      run_side_by_side(experiment, request, mine, [&](Finished trial) {
        if (finishers) return finishers->add(std::move(trial));
        if (!experiment.by_whole_team()) lines += as_line(trial) + '\n';
        if (observer && observer({})) throw Interrupted("interrupted");
      });
    } catch (...) {
      failure = std::current_exception();
    }
    // What is finished is kept, even if others failed.
    const std::vector<Bytes> from_ranks = team.gather((Packer() << lines).take());
    all_or_none(team, [&] {
      for (std::size_t r = 1; finishers && r < from_ranks.size(); ++r) {
        std::istringstream stream{Unpacker(from_ranks[r]).next<std::string>()};
        for (std::string line; std::getline(stream, line);) finishers->add(from_line(line).value());
      }
      if (failure) std::rethrow_exception(failure);
    });
    first = round.end;
  }
  return finishers ? finishers->all() : std::vector<Finished>();
}

}  // namespace gsc::experiments
