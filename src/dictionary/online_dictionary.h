#pragma once
// The dictionary of online learning (Mairal, Bach, Ponce, Sapiro 2009): what it remembers of all batches so far, and
// the step that it makes after each.
//
//   A <- beta A + mean a a'      B <- beta B + mean x a'      over a batch of eta data points x with codes a
//   minimise  1/2 tr(D'D A) - tr(D'B)  over |d_j| <= 1:   d_j <- project(d_j + (b_j - D a_j) / A_jj)   for all j
//
// The minimum over one atom is the projection of that over all space, as A_jj is the same in every direction: so no
// step raises this surrogate of the objective, and one pass is enough, as the next batch starts from here. Old batches,
// coded by worse dictionaries, are forgotten: by the authors' schedule
//
//   beta_t = (theta + 1 - eta) / (theta + 1),    theta = t eta while t < eta, then eta^2 + t - eta,
//
// under which batch t counts about t times as much as the first, while t < eta.

#include <gsc/types.h>

#include <Eigen/SparseCore>
#include <vector>

namespace gsc {

/// beta for batch t = 1, 2, ... of `batch` data points.
double online_decay(double t, Index batch);

class OnlineDictionary {
 public:
  /// `atoms`: H x D, one a row, of norm 1 or less.
  explicit OnlineDictionary(Matrix atoms);

  /// Adds a batch: `points` rows of D, `codes` H x points.
  void add(const Matrix& points, const Eigen::SparseMatrix<double>& codes, double decay);
  /// One pass of block coordinate descent. Calls BLAS.
  void update();
  /// The dictionary's surrogate: 1/2 tr(D'D A) - tr(D'B).
  double surrogate() const;

  /// Atoms that nobody has used for long, and the less used of two that point the same way (|cosine| above 0.99).
  std::vector<Index> useless() const;
  /// A new start for an atom, with nothing remembered of the old. False, and nothing happens, for a point of no length,
  /// and for one that points the same way as another atom: it would be useless at once.
  bool replace(Index atom, const Eigen::Ref<const Eigen::RowVectorXd>& point);

  const Matrix& atoms() const { return atoms_; }
  const Matrix& A() const { return A_; }  ///< H x H
  const Matrix& B() const { return B_; }  ///< H x D: its rows are the b_j
  void restore(Matrix A, Matrix B);

 private:
  Matrix atoms_, A_, B_;
};

}  // namespace gsc
