#include "truncated/gaps/outside_posterior.h"

#include <cmath>

namespace gsc {

OutsidePosterior::OutsidePosterior(const Model& model, const PreparedModel& prepared)
    : gaps_(*prepared.gaps),
      noise_((gaps_.log_noise.array().exp() / std::sqrt(2 * M_PI)).matrix()),
      logit_((model.pi.array().log() - (-model.pi.array()).log1p()).matrix()),
      offset_(prepared.scale.cwiseProduct(model.mu).cwiseQuotient(model.slab.variances())),
      pull_(model.mu.cwiseAbs2().cwiseQuotient(model.slab.variances())) {}

void OutsidePosterior::infer(const std::vector<bool>& candidate, const Eigen::Ref<const Eigen::RowVectorXd>& y,
                             const Eigen::Ref<const Eigen::RowVectorXd>& observed,
                             const Eigen::Ref<const Eigen::RowVectorXd>& diagonal,
                             const Eigen::Ref<const Eigen::RowVectorXd>& inside, Eigen::Ref<Eigen::RowVectorXd> mean,
                             Eigen::Ref<Eigen::RowVectorXd> variance) const {
  std::vector<Index> others;
  // In units of the noise, as the basis is: r / sigma.
  Eigen::RowVectorXd residual = y.cwiseQuotient(noise_.transpose());
  for (Index h = 0; h < gaps_.basis.rows(); ++h) {
    if (!candidate[static_cast<std::size_t>(h)]) {
      others.push_back(h);
      mean[h] = variance[h] = 0;
    } else if (inside[h] != 0) {
      residual -= inside[h] * gaps_.basis.row(h);
    }
  }
  residual.array() *= observed.array();
  for (int round = 0; round < kRounds; ++round)
    for (const Index h : others) {
      const double e = gaps_.basis.row(h).dot(residual) + diagonal[h] * mean[h];
      const double tau2 = 1 / (diagonal[h] + gaps_.slab_precision[h]), nu = tau2 * (e + offset_[h]);
      const double logit = logit_[h] + 0.5 * std::log(tau2 * gaps_.slab_precision[h]) +
                           0.5 * tau2 * (e * (e + 2 * offset_[h]) - diagonal[h] * pull_[h]);
      const double gamma = 1 / (1 + std::exp(-logit)), x = gamma * nu;
      residual.array() -= (x - mean[h]) * gaps_.basis.row(h).array() * observed.array();
      mean[h] = x;
      variance[h] = gamma * (nu * nu + tau2) - x * x;
    }
}

}  // namespace gsc
