#pragma once
// Stepwise EM: an M-step after each batch of data points instead of after a pass over all of them (docs/model.md).
//
//   S_t = (1 - rho_t) S_{t-1} + rho_t N/B sum over the batch        rho_t = max(floor, (t + 1)^-exponent)
//
// and the M-step of S_t. Where the intercept moves, S moves with it (move_intercept), as its sums are about it.

#include <vector>

#include "learning/learner.h"

namespace gsc {

/// Weights for forgetting; chosen by bench/stepwise_bench.cpp.
struct Decay {
  double floor = 0.02, exponent = 0.5;
  double weight(double step) const;
};

class Stepwise {
 public:
  /// `em`: where passes are made, from the model that it has.
  Stepwise(Share& share, ResidentEm& em, const FitOptions& options, Decay decay = {});

  /// What the model is worth on the first batch, as an estimate.
  Evaluation glance(const StopRequest& stop);
  /// One pass over the data, in an order of its own for each `row`. If it throws Interrupted, nothing has changed.
  Evaluation pass(int row, const StopRequest& stop);

  void save(MethodState& state) const;
  void load(const MethodState& state, const Model& model);
  /// The running sums, which are those of another number of data points, as those of these.
  void rescale();

 private:
  void shuffle(int row);
  std::span<const Index> batch_rows(Index batch) const;
  Evaluation pass_over(int row, const StopRequest& stop);
  double held_after(int row, Index batch) const;

  Share& share_;
  ResidentEm& em_;
  const FitOptions& options_;
  const Decay decay_;
  double total_;              // data points of all ranks
  Index batches_;             // of a pass; each rank has a part of every one
  std::vector<Index> order_;  // of this rank's rows
  Statistics running_;        // after the last pass
  double steps_ = 0;
};

}  // namespace gsc
