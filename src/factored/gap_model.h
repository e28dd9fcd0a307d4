#pragma once
// What a factored sweep needs of a model where values are missing, beside FactoredModel. A missing entry has infinite
// noise variance, so with o the observed entries of a data point
//
//   G_hh = sum_{d in o} P_d m_dh^2        A_h = G_hh + sum_{d in o} P_d V_dh        tau_h^2 and logit as ever
//
// are products of the mask with D x H matrices, and all that is left of the other latents is the residual:
//
//   e_h = sum_{d in o} P_d m_dh r_d + G_hh x_h        r = y - W x on o
//
// An update moves r by m_h times the change of x_h, 2 D multiplications in all, and no Gram matrix of the data point is
// needed. The bound of a data point is
//
//   sum_h (log(1 - pi_h) + local_h) - sum_{d in o} (1/2 P_d r_d^2 + 1/2 log 2 pi sigma_d^2)

#include <gsc/model.h>

#include <vector>

namespace gsc {

/// The latents stand in the order of the sweep.
struct FactoredGapModel {
  FactoredGapModel(const Model& model, const std::vector<Index>& order);

  Matrix W;            ///< D x H
  Matrix basis;        ///< H x D   W'
  Matrix squares;      ///< H x D   P_d m_dh^2
  Matrix spreads;      ///< H x D   P_d V_dh, or empty
  Vector precision;    ///< D       P
  Vector log_noise;    ///< D       1/2 log(2 pi sigma_d^2)
  Vector psi;          ///< H
  Vector prior_logit;  ///< H       logit pi
  Vector pull;         ///< H       mu^2/psi
  double constant;     ///< sum_h log(1 - pi_h)
};

}  // namespace gsc
