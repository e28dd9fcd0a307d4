#pragma once
// What the tests of the factored method share: settings to learn with, and errors measured against its oracle.

#include <gsc/fit.h>

#include <iosfwd>
#include <vector>

#include "factored_oracle.h"

namespace gsc::test {

InferenceOptions factored(int threads = 1);
std::vector<Index> random_order(Index latents, Random& random);
/// The model with variances of 0.3 on average for the entries of W.
Model with_uncertain_basis(Model model, std::uint64_t seed);

/// Error of the means <s.z> against what they could be at most, sqrt(<(s.z)^2>) (Cauchy-Schwarz): <s.z> itself may
/// cancel to nothing. Infinite where shapes differ or a number is not finite.
double code_error(const oracle::FactoredSweep& expected, const Matrix& got);
/// Error of any entry of any field, against the largest value that Cauchy-Schwarz leaves it.
double statistics_error(const oracle::Sums& expected, oracle::Real energy_scale, const Statistics& got);
/// sum_n (1 + |bound_n|).
oracle::Real energy_scale(const oracle::FactoredOracle& oracle, const Matrix& data, const oracle::FactoredSweep& at);

/// A way to learn.
struct Setting {
  BasisPrior prior = BasisPrior::identity;
  double length_scale = 0;
  bool shared_prior = true;
  NoiseType noise = NoiseType::scalar;
  SweepOrder order = SweepOrder::fixed;
};
std::ostream& operator<<(std::ostream& out, const Setting& setting);
/// All combinations; gp with a length scale given and learned.
std::vector<Setting> every_setting();
/// So many iterations, whatever the free energy does.
FitOptions fit_options(const Setting& setting, Index latents, int iterations, std::uint64_t seed = 1);

/// Keeps the state of every row.
class Recorder : public Watcher {
 public:
  void on_iteration(const FitState& state) override { states.push_back(state); }
  bool needs_method_state(const FitState&) override { return true; }
  std::vector<FitState> states;
};

}  // namespace gsc::test
