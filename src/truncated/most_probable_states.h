#pragma once
// The heaviest states of one data point. Reporting, not learning: plain scalar code, and an independent second way to
// the weights that the SIMD trees sum.

#include <cmath>
#include <cstdint>
#include <vector>

#include "truncated/tree/prepared_model.h"

namespace gsc {

class MostProbableStates {
 public:
  MostProbableStates(const PreparedModel& model, Index states)
      : model_(model), wanted_(static_cast<std::size_t>(states)) {}

  /// eta: scaled, with offset. candidates: ascending. Writes `states` rows of max_active latents (the rest stays as it
  /// was) and their posterior probabilities. `observed`: D, 1 or 0, of a data point with gaps; null: all.
  void find(const Vector& eta, const std::int32_t* candidates, std::int32_t* states, double* weights,
            const double* observed = nullptr);
  /// Log of the summed weights of all states of the last data point.
  double log_sum() const { return largest_ + std::log(sum_); }

 private:
  struct State {
    double log_weight;
    std::vector<std::int32_t> latents;
  };
  void offer(double log_weight);
  /// J^ of a data point, or for a full slab G^.
  double own_system(Index i, Index j, const double* observed) const;
  void grow(Index position, const Matrix& M, const Vector& v, double log_weight);

  const PreparedModel& model_;
  std::size_t wanted_;
  const std::int32_t* candidates_ = nullptr;
  std::vector<std::int32_t> active_;
  double largest_ = 0, sum_ = 0;  // all states so far weigh exp(largest_) * sum_
  std::vector<State> heap_;       // the least of the best on top
};

}  // namespace gsc
