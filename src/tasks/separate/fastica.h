#pragma once
// FastICA (Hyvarinen, IEEE Transactions on Neural Networks 10, 1999): independent directions of whitened data.
//
//   x_n   whitened data point n (zero mean, covariance I)      w_h   a direction, unit norm, orthogonal to the others
//   y     = w_h' x, a source                                   g     the nonlinearity (fastica_kernel.h)
//
// The variance of y is 1 whatever w_h is; the direction in which E[G(y)], G' = g, is extreme is that of a source. There
//
//   E[x g(w'x)] - E[g'(w'x)] w
//
// is a multiple of w (and of the other directions), and taking it for the new w is Newton's step.

#include <gsc/separate.h>

#include <functional>

namespace gsc {

struct FasticaDirections {
  Matrix W;  ///< square; row h is w_h
  FasticaRun run;
};

/// `white`: directions x samples, whitened. `start`: square and regular; symmetric makes it orthogonal, deflation
/// takes its rows one by one. The bits do not depend on `threads`. `stop` is asked before each iteration and ends it
/// with Interrupted.
FasticaDirections fastica(const Matrix& white, const Matrix& start, const FasticaOptions& options, int threads,
                          const std::function<bool()>& stop = {});

/// (W W')^-1/2 W, the orthogonal matrix nearest to W. Throws Error if W is singular.
Matrix nearest_orthogonal(const Matrix& W);

}  // namespace gsc
