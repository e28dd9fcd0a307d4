#pragma once
// Orthogonal matching pursuit: atoms are added one by one, each time the one that the residual resembles most, and the
// coefficients of all are fitted anew. The batch form (Rubinstein, Zibulevsky and Elad 2008) never makes a residual:
//
//   symbol  name     shape
//   D       W        D x H   atoms d_h, columns of W
//   x                D       data point, less the intercept
//   G = D'D gram     H x H   once for all data points
//   a = D'r scores   H       of the residual r; at first D'x, one matrix product for a block of data points
//   q_k                      atom i_k less its projection on those before it, of unit norm
//   u_k = D'q_k      H       rows of U
//   L       (of U)   k x k   lower Cholesky factor of G on the chosen atoms: L_kj = d_{i_k}'q_j = u_j[i_k]
//
//   i_k  = argmax_h |a_h| / |d_h|
//   L_kk = sqrt(G_{i_k i_k} - sum_{j<k} L_kj^2)        u_k = (G e_{i_k} - sum_{j<k} L_kj u_j) / L_kk
//   b_k  = q_k'x = a[i_k] / L_kk        a <- a - b_k u_k        |r|^2 <- |r|^2 - b_k^2
//   code z on the chosen atoms:  L'z = b
//
// It ends when |r|^2 <= D (error_gain sigma)^2, or with as many atoms as are allowed. Where entries of x are missing, D
// is the number of those that are there, and x and all atoms have zeros elsewhere: D'D is then made for each data
// point, the rows that it asks for.

#include <gsc/model.h>

#include "dictionary/coder.h"

namespace gsc {

/// Codes by the dictionary model.W to the error that model.noise asks for.
CoderMaker omp_coder(const Model& model, const InferenceOptions& options);

/// Most atoms of a data point: what the options say, or half the dimensions; not more than there are atoms or
/// dimensions.
Index most_atoms(const Model& model, const InferenceOptions& options);

}  // namespace gsc
