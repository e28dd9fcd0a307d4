#pragma once
// The atoms that a pursuit has taken so far: their rows of the Gram matrix G, and the Cholesky factor of their block
//
//   G_AA = L L'        an atom more is a row more: w = L^-1 G_Aj, L_jj = sqrt(G_jj - w'w)
//
// An atom less is a row less of L, and rotations of neighbouring columns that make it triangular again.

#include <gsc/types.h>

#include <algorithm>
#include <vector>

#include "math/blas.h"

namespace gsc {

/// Rows of the Gram matrix G = D'D of the atoms, as a pursuit asks for them.
class GramRows {
 public:
  virtual ~GramRows() = default;
  /// Row `atom`, one number for each atom.
  virtual void copy(Index atom, double* row) const = 0;
};

/// Of a matrix that is there, which must stay.
class WholeGram final : public GramRows {
 public:
  explicit WholeGram(const Matrix& gram) : gram_(gram) {}
  void copy(Index atom, double* row) const override { std::copy_n(gram_.row(atom).data(), gram_.cols(), row); }

 private:
  const Matrix& gram_;
};

/// Of the atoms where a data point was observed. A code takes a few rows, so the matrix is never made.
class ObservedGram final : public GramRows {
 public:
  /// `atoms`: H x D, one a row, zero in the columns that are missing; must stay.
  explicit ObservedGram(const Matrix& atoms) : atoms_(atoms) {}
  void copy(Index atom, double* row) const override { times_vector(atoms_, atoms_.row(atom).data(), row); }

 private:
  const Matrix& atoms_;
};

class ActiveSet {
 public:
  explicit ActiveSet(Index atoms);

  void clear();
  /// False, and nothing is changed, if the atom is a combination of those taken, as far as arithmetic can tell; then
  /// combination() has it.
  bool add(Index atom, const GramRows& gram);
  void remove(Index position);

  Index size() const { return static_cast<Index>(atoms_.size()); }
  bool empty() const { return atoms_.empty(); }
  Index operator[](Index position) const { return atoms_[static_cast<std::size_t>(position)]; }
  bool contains(Index atom) const { return taken_[static_cast<std::size_t>(atom)] != 0; }

  /// G_AA x = right, in place.
  void solve(double* right) const;
  /// out = G_{.A} weights, for all atoms.
  void correlate(const double* weights, double* out) const;
  /// After add() has failed: w with d_j = D_A w.
  std::vector<double> combination() const;
  /// G_AA's entry.
  double gram(Index i, Index j) const { return rows_(i, (*this)[j]); }

 private:
  void make_room();
  double* factor(Index row) { return factor_.row(row).data(); }
  const double* factor(Index row) const { return factor_.row(row).data(); }

  std::vector<Index> atoms_;
  std::vector<char> taken_;
  Matrix rows_;    // of G: size() and one more x all atoms
  Matrix factor_;  // L, its rows one after the other
};

}  // namespace gsc
