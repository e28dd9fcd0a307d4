#pragma once
// Runs the trials of an experiment and keeps the finished ones in a file, so that a run that was stopped goes on where
// it was.

#include <functional>

#include "experiment.h"

namespace gsc::experiments {

struct TrialsProgress {
  int done = 0, all = 0;
  double seconds_left = -1;  ///< negative: not known yet
};
/// Returns true to stop: what is finished is kept and Interrupted thrown.
using TrialsObserver = std::function<bool(const TrialsProgress&)>;

/// One line of JSON a trial: {"settings": ..., "result": ..., "seconds": ...}. A line cut off by a crash is ignored.
std::vector<Finished> read_trials(const std::filesystem::path& file);

/// The trials in the order of the experiment, from `file` or run now. Trials side by side run on as many threads as
/// asked for, each on one, and on all ranks of the team. The first that throws ends it all, with its settings in the
/// message. Only the root reads and writes the file and has the result.
std::vector<Finished> run_trials(const Experiment& experiment, const Request& request,
                                 const std::filesystem::path& file, const TrialsObserver& observer);

}  // namespace gsc::experiments
