#pragma once
// The sums of missing_sums.h for the factored method, where all pairs of latents have products: x x', and <(s.z)^2> on
// the diagonal. They are D H(H+1)/2 multiplications a data point, so its codes and gaps are gathered, and matrix
// products made of many.

#include <vector>

#include "factored/gaps.h"

namespace gsc {

class FactoredMissingSums {
 public:
  FactoredMissingSums(const FactoredModel& model, int threads);

  /// Called by each thread for its own points, which have been swept.
  void gather(int thread, FactoredGaps& points);
  /// Adds what all threads gathered to `statistics`; on so many.
  void add_up(int threads, Statistics& statistics);

  /// So many data points are gathered before they are added up.
  static constexpr Index kGathered = 8192;

 private:
  struct Thread {
    std::vector<Matrix> x;        ///< latents, in the order of the model, x points
    std::vector<Matrix> rest;     ///< the same, <(s.z)^2> - x^2
    std::vector<Matrix> missing;  ///< points x D
  };

  const FactoredModel& model_;
  std::vector<Thread> threads_;
};

}  // namespace gsc
