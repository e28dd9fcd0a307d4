#pragma once
// FastICA's nonlinearities on many numbers at once.

#include <gsc/separate.h>

namespace gsc {

/// Puts g(y) in the place of each of `count` numbers y; returns the sum of g'(y).
///
///   tanh   g = tanh y            g' = 1 - tanh^2 y
///   cube   g = y^3               g' = 3 y^2
///   gauss  g = y exp(-y^2 / 2)   g' = (1 - y^2) exp(-y^2 / 2)
///
/// The numbers up to the next multiple of kNonlinearityWidth are read and written as well.
double apply_nonlinearity(Nonlinearity nonlinearity, double* values, Index count);
inline constexpr Index kNonlinearityWidth = 8;  ///< doubles in the widest vector there is

}  // namespace gsc
