#pragma once
// What the E-step needs of a model where values are missing, beside PreparedModel. A missing entry has infinite noise
// variance: with o the observed entries of a data point and P diagonal,
//
//   G_n = W_o' P_o W_o        b_n = W_o' P_o y_o        c(y) counts the observed entries
//
// so b is the usual product on data with zeros for what is missing, and of G_n the diagonal is a product of the mask
// with W.W P, the rest needed among the candidates only. All in the scaled units of the complete data, t:
//
//   J^_n = t G_n t + diag(t^2/psi)
//
// whose diagonal is at most 1. Singletons then weigh a - 1/2 log J^_hh + eta^^2/(2 J^_hh).

#include <gsc/model.h>

#include "math/blas.h"

namespace gsc {

struct GapModel {
  /// scale: t; padded: as in PreparedModel.
  GapModel(const Model& model, const Vector& scale, Index padded);

  Matrix basis;           ///< latents x D: t_h W_dh / sigma_d; G^_n = sum over observed d of basis(i, d) basis(j, d)
  SingleMatrix columns;   ///< D x padded: the same, transposed
  Matrix squares;         ///< D x padded: squared
  Vector slab_precision;  ///< padded: t^2/psi; 1 in the padding
  Vector log_noise;       ///< D: 1/2 log(2 pi sigma_d^2)

  // The prior, which is the posterior of a data point without any observed entry.
  Vector pi;      ///< latents
  Vector mean;    ///< latents: pi mu / t
  Vector second;  ///< latents: pi (psi + mu^2) / t^2
};

/// The prior's <(s.z)(s.z)'>, not scaled.
Matrix prior_products(const Model& model);

}  // namespace gsc
