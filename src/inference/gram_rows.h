#pragma once
// Rows of the Gram matrix G = D'D of the atoms, as a pursuit asks for them.

#include <gsc/types.h>

#include <algorithm>

#include "math/blas.h"

namespace gsc {

class GramRows {
 public:
  virtual ~GramRows() = default;
  virtual Index atoms() const = 0;
  /// Row `atom`, atoms() long.
  virtual void copy(Index atom, double* row) const = 0;
};

/// Of a matrix that is there, which must stay.
class WholeGram final : public GramRows {
 public:
  explicit WholeGram(const Matrix& gram) : gram_(gram) {}
  Index atoms() const override { return gram_.rows(); }
  void copy(Index atom, double* row) const override { std::copy_n(gram_.row(atom).data(), gram_.cols(), row); }

 private:
  const Matrix& gram_;
};

/// Of the atoms where a data point was observed. A code takes a few rows, so the matrix is never made.
class ObservedGram final : public GramRows {
 public:
  /// `atoms`: H x D, one a row, zero in the columns that are missing; must stay.
  explicit ObservedGram(const Matrix& atoms) : atoms_(atoms) {}
  Index atoms() const override { return atoms_.rows(); }
  void copy(Index atom, double* row) const override { times_vector(atoms_, atoms_.row(atom).data(), row); }

 private:
  const Matrix& atoms_;
};

}  // namespace gsc
