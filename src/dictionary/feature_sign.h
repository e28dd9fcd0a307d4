#pragma once
// Feature-sign search (Lee, Battle, Raina, Ng 2006): the lasso by guesses of the signs of its coefficients,
//
//   minimise f(a) = 1/2 |x - D a|^2 + lambda |a|_1        with g = D'(D a - x) = G a - D'x
//
//   1. of the coefficients that are zero the one with the largest |g_j| > lambda gets the sign of -g_j;
//   2. on the atoms A with signs theta f is a quadratic, whose minimum is a = G_AA^-1 (D'x_A - lambda theta);
//      on the way there from the present a, f is looked at wherever a coefficient is zero, and at the end: the best
//      of these points is the new a, and coefficients that are zero leave A;
//   3. step 2 again until no sign has changed (then g_j = -lambda theta_j on A), then step 1, until no |g_j| > lambda.
//
// Every step lowers f, so no set of signs comes twice. Where D_A loses rank, f falls along a combination of atoms that
// is zero, straight to where the first coefficient is zero: an atom leaves, and A is independent again.

#include <vector>

#include "dictionary/active_set.h"

namespace gsc {

class FeatureSign {
 public:
  explicit FeatureSign(Index atoms);

  /// Starts from the code that start() was given, else from zero.
  void solve(const GramRows& gram, const double* correlations, double lambda);
  /// For the next solve(); near the solution it saves steps. Coefficients that are zero do not count.
  void start(const Index* atoms, const double* values, Index count);

  // Of the last data point.
  Index size() const { return active_.size(); }
  Index atom(Index i) const { return active_[i]; }
  double value(Index i) const { return values_[static_cast<std::size_t>(i)]; }
  Index steps() const { return steps_; }

 private:
  void take(Index atom, double value, double sign, const GramRows& gram);
  bool step(const double* correlations, double lambda);
  void move(double share, const std::vector<double>& direction);
  double change(double share, const std::vector<double>& direction, double slope, double curvature,
                double lambda) const;
  Index most_violated(const double* correlations, double lambda);

  ActiveSet active_;
  std::vector<double> values_, signs_, target_;  // a, theta, and where step 2 goes: in the order of active_
  std::vector<double> gradient_;                 // of all atoms
  std::vector<std::pair<Index, double>> start_;
  Index steps_ = 0;
};

}  // namespace gsc
