#include "learning/learner.h"

#include <cmath>

namespace gsc {

bool Learner::converged(const std::vector<IterationReport>& history, double tolerance) const {
  if (tolerance <= 0 || history.size() < 2) return false;
  const IterationReport &last = history.back(), &before = history[history.size() - 2];
  if (last.estimated || before.estimated) return false;
  return std::abs(last.free_energy - before.free_energy) < tolerance * std::abs(last.free_energy);
}

Evaluation evaluation(const Statistics& statistics, const Rescues& rescues) {
  return {statistics.free_energy,
          statistics.s.sum() / statistics.count,
          (statistics.s.array() >= 1).count(),
          rescues,
          false,
          {}};
}

Evaluation evaluation(const ResidentRow& row) {
  return {row.free_energy, row.s.sum() / row.count, (row.s.array() >= 1).count(), row.rescues,
          false,           row.noise_variance};
}

}  // namespace gsc
