#pragma once
// Learning from several starts, of which the best is kept.

#include <gsc/export.h>
#include <gsc/fit.h>

#include <optional>
#include <vector>

namespace gsc {

struct Restarts {
  FitResult best;
  int winner = 0;                     ///< the start it is of, from 0; its seed is options.seed + winner
  std::vector<double> free_energies;  ///< of all starts; NaN of one that failed or was never begun; of draws their mean
  std::vector<double> noise_stds;     ///< likewise, as learned
};

/// The best of several starts with the seeds options.seed, options.seed + 1, ..., by its free energy. They run side by
/// side, one thread each, so that their bits do not depend on how many threads there are. In a team every rank runs
/// some of them; a single start, or data that only the root holds, is shared by rows. Starts that fail do not count
/// unless all do. With batches the last iteration of every start is full EM also where options.polish is 0, so that
/// exact free energies are compared. `first`: what the first one starts from instead of options.init.
GSC_EXPORT Restarts fit_restarts(const Data& data, const FitOptions& options, int restarts, Watcher* watcher = nullptr,
                                 const std::optional<Model>& first = {});

/// How the starts of one fit compare.
struct StartsSummary {
  double range = 0;  ///< best minus worst free energy
  Index near = 0;    ///< starts within 1 of the best: a likelihood ratio below e
  Index failed = 0;  ///< starts without a free energy
};
GSC_EXPORT StartsSummary compare_starts(const std::vector<double>& free_energies);

}  // namespace gsc
