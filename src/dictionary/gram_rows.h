#pragma once
// Rows of the Gram matrix G = D'D of the atoms, as a pursuit asks for them.

#include <gsc/types.h>

#include <algorithm>

#include "math/blas.h"

namespace gsc {

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

}  // namespace gsc
