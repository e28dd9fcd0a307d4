#pragma once
// Latents outside the candidates of a data point with gaps, each with a posterior of its own. Given the means m of the
// candidates, the best q(s_h, z_h) of the others are those of the factored method (factored_model.h), on the observed
// entries o and in the scaled units of PreparedModel:
//
//   r = y - W m on o        e_h = sum_{d in o} P_d w_dh r_d + G_hh x_h        1/tau^2 = G_hh + 1/psi
//   nu = tau^2 (e + mu/psi)
//   logit gamma = logit pi + 1/2 log(tau^2/psi) + 1/2 tau^2 (e (e + 2 mu/psi) - G mu^2/psi)
//   x_h = gamma nu, which leaves r with w_h less of its change        Var = gamma (nu^2 + tau^2) - x_h^2
//
// in turn, a few times round. Where nothing is known of a latent (G = 0) that is its prior; KL(q || p) cannot be more
// than with all of them off. A full slab counts by its variances.

#include <gsc/model.h>

#include <vector>

#include "truncated/tree/gap_model.h"
#include "truncated/tree/prepared_model.h"

namespace gsc {

class OutsidePosterior {
 public:
  OutsidePosterior(const Model& model, const PreparedModel& prepared);

  /// Of one data point: y less the intercept and zero where missing, the mask, G_hh, and m. Sets mean and variance of
  /// the latents that are no candidates and leaves the others alone.
  void infer(const std::vector<bool>& candidate, const Eigen::Ref<const Eigen::RowVectorXd>& y,
             const Eigen::Ref<const Eigen::RowVectorXd>& observed, const Eigen::Ref<const Eigen::RowVectorXd>& diagonal,
             const Eigen::Ref<const Eigen::RowVectorXd>& inside, Eigen::Ref<Eigen::RowVectorXd> mean,
             Eigen::Ref<Eigen::RowVectorXd> variance) const;

  static constexpr int kRounds = 3;

 private:
  const GapModel& gaps_;
  Vector noise_;           ///< D: sigma
  Vector logit_, offset_;  ///< latents: logit pi, mu/psi; scaled
  Vector pull_;            ///< latents: mu^2/psi
};

}  // namespace gsc
