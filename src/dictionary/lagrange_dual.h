#pragma once
// The best basis for given codes, with bounded atoms (Lee, Battle, Raina, Ng 2006):
//
//   minimise |X - B S|^2  over B with |b_j|^2 <= c
//
// by its dual in one variable l_j >= 0 for each atom. With L = diag(l), K = (SS' + L)^-1 and M = XS' K
//
//   f(l)  = tr(XS' K SX') + c sum l      (the dual is tr XX' - f, so f is minimised; it is convex)
//   df/dl_j = c - |m_j|^2        d2f/dl_i dl_j = 2 (M'M)_ij K_ij        B = M
//
// by Newton steps on the variables that are not held at their bound, each step cut short until f falls enough
// (Bertsekas' projected Newton). Where l_j > 0 the atom has the norm sqrt(c), where l_j = 0 it may have less.
// The bound is not zero but a 1e-10th of the mean of diag(SS'), so that K exists where SS' is singular.

#include <gsc/types.h>

namespace gsc {

/// All that the codes and the data say about the basis.
struct BasisSums {
  Matrix SS;  ///< H x H
  Matrix XS;  ///< D x H
};

/// f, its gradient and its second derivatives at l, all of which must be so that SS' + L is positive definite.
struct DualPoint {
  double value = 0;
  Vector gradient;
  Matrix basis;    ///< M
  Matrix inverse;  ///< K
  Matrix hessian() const;
};
DualPoint dual_point(const BasisSums& sums, double bound, const Vector& multipliers);

struct DualSolution {
  Matrix basis;
  Vector multipliers;  ///< l
  int steps = 0;
  Index unused = 0;  ///< atoms without a code, which stay as they were
};

/// `before`: the basis so far, D x H, with |b_j|^2 <= bound; the result is never worse. `start`: multipliers to start
/// from, or empty. Calls BLAS.
DualSolution lagrange_dual(const BasisSums& sums, double bound, const Matrix& before, const Vector& start = {});

/// |X - B S|^2 - |X|^2
double basis_objective(const BasisSums& sums, const Matrix& basis);

}  // namespace gsc
