#pragma once
// The lasso by least-angle regression (Efron et al. 2004, with the lasso's drops), on the Gram matrix:
//
//   a(lambda) = argmin 1/2 |x - D a|^2 + lambda |a|_1        from lambda = max |D'x|, where a = 0, downwards
//
//   symbol  meaning
//   c       D'(x - D a), the correlation of the residual with each atom
//   A, s    the atoms in use, which have |c_j| = lambda, and the signs of their c_j, which are those of a_j
//   u       G_AA^-1 s: while lambda falls by t, a_A grows by t u and c falls by t v, v = G_{.A} u (v_A = s)
//
// The path is straight until another atom reaches |c_j| = lambda - t (it joins), a coefficient reaches zero (it
// leaves), or the end is reached. The error falls by (2 t lambda - t^2) s'u, so an end given as an error is found
// exactly, too. Atoms that are combinations of those in use (copies, for example) stay at |c_j| = lambda by themselves;
// they are left out until an atom leaves. Where more than two atoms tie in lambda, steps without length follow each
// other; should they not end, the path ends there, with the solution for the lambda reached.

#include <limits>
#include <vector>

#include "dictionary/active_set.h"

namespace gsc {

/// The path ends where the first of these is reached.
struct LarsEnd {
  double lambda = 0;
  double squared_error = 0;                         ///< |x - D a|^2
  Index atoms = std::numeric_limits<Index>::max();  ///< before one more would join
};

class Lars {
 public:
  explicit Lars(Index atoms);

  /// Codes a data point: correlations D'x (H numbers) and |x|^2, which only an error needs.
  void solve(const GramRows& gram, const double* correlations, double squared_norm, const LarsEnd& end);

  // Of the last data point.
  Index size() const { return static_cast<Index>(values_.size()); }
  Index atom(Index i) const { return active_[i]; }
  double value(Index i) const { return values_[static_cast<std::size_t>(i)]; }
  double lambda() const { return lambda_; }                ///< where the path ended
  double squared_error() const { return squared_error_; }  ///< there

 private:
  struct Event {
    double distance;
    enum Kind { end, join, leave } kind;
    Index which;  ///< the atom that joins, or the position of the one that leaves
  };
  Event next(const LarsEnd& end) const;
  double distance_to(const LarsEnd& end) const;
  void advance(double distance);
  void join(Index atom, const GramRows& gram);
  void leave(Index position);
  void follow(const GramRows& gram, const LarsEnd& end);
  void settle(const double* correlations);

  ActiveSet active_;
  std::vector<double> values_, signs_, direction_;  // a, s, u: in the order of active_
  std::vector<double> c_, v_;                       // of all atoms
  std::vector<char> out_;                           // neither joins nor is looked at: in use, or a combination
  std::vector<Index> combinations_;
  Index left_ = -1;  // the atom of the last step that left: it is at |c| = lambda and goes inwards
  double lambda_ = 0, squared_error_ = 0, gain_ = 0;  // gain: s'u
};

}  // namespace gsc
