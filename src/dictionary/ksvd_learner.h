#pragma once
// K-SVD (Aharon, Elad and Bruckstein 2006; for pictures Elad and Aharon 2006; docs/methods.md). Codes are those of
// orthogonal matching pursuit (dictionary/matching_pursuit.h). Then, atom by atom in random order, with the supports of the codes as
// they are:
//
//   I   users of atom k            E_n = x_n - sum_{j != k} d_j z_jn    for n in I, what the others leave
//   exact:        d_k = first eigenvector of sum_n E_n E_n',  then  z_n = d_k'E_n      the best of rank one
//   approximate:  d_k ~ sum_n z_n E_n,                        then  z_n = d_k'E_n      a step of least squares
//
// With missing values the sums go over what is observed, entry by entry (m_nj is 1 or 0), and both steps
//
//   d_kj = sum_n m_nj z_n E_nj / sum_n m_nj z_n^2        z_n = sum_j m_nj d_kj E_nj / sum_j m_nj d_kj^2
//
// are repeated (exact) or done once. None of this lets the squared error sum_n |x_n - D z_n|^2 rise. When all are
// done, atoms with at most 3 users, and those as good as equal to another (|d_j'd_k| > 0.99), become the data points
// that are explained worst.

#include "dictionary/learner.h"

namespace gsc {

class KsvdLearner final : public DictionaryLearner {
 public:
  using DictionaryLearner::DictionaryLearner;

 private:
  void improve(Matrix& W, Coded& coded, int row, Rescues& rescues) override;
};

/// The update of all atoms at fixed supports, in place: atoms as rows (H x D), their codes and what is left of the data
/// points. For KsvdLearner and for tests.
class AtomUpdates {
 public:
  AtomUpdates(const TrainingRows& rows, Matrix& atoms, Codes& codes);
  /// Replaces the atom, if it has any users, and its coefficients.
  void update(Index atom, AtomUpdate how);
  Index users(Index atom) const { return static_cast<Index>(users_[static_cast<std::size_t>(atom)].size()); }
  /// The sum of squares of what is left of each data point.
  Vector squared_errors() const { return residual_.rowwise().squaredNorm(); }

 private:
  struct User {
    Index point;
    double* coefficient;
  };
  void gather(Index atom);
  void take(Index atom);
  void best_rank_one(Index atom);
  void step(Index atom);
  bool masked_step(Index atom);

  const TrainingRows& rows_;
  Matrix& atoms_;
  std::vector<std::vector<User>> users_;
  Matrix residual_;  // N x D
  // Of the atom in work: E, and where there are gaps the mask, a row per user; the coefficients.
  Matrix left_, mask_;
  Vector coefficients_;
};

}  // namespace gsc
