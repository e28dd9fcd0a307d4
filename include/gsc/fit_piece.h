#pragma once
// Learning from data that comes in pieces and is never there as a whole: stepwise EM that keeps its sums from one piece
// to the next.

#include <gsc/export.h>
#include <gsc/fit.h>

namespace gsc {

/// What goes from piece to piece. Empty at first.
struct PiecewiseState {
  Model model;
  MethodState method;  ///< the running sums
  int pieces = 0;      ///< so many have been learned from
  double points = 0;   ///< data points in them
};

/// Goes over the piece once, with an M-step after every options.batch data points (0: one for the whole piece), on sums
/// that forget slowly. An empty state gets a model drawn from the first piece, unless it has one to start from. What
/// comes back describes the piece under the parameters before each step. If it throws, the state is as it was. Not of
/// the factored method, which keeps something of every data point, and not in a team.
GSC_EXPORT IterationReport fit_piece(PiecewiseState& state, const Data& piece, const FitOptions& options,
                                     const StopRequest& stop = {});

}  // namespace gsc
