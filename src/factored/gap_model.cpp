#include "factored/gap_model.h"

#include <numbers>

namespace gsc {

FactoredGapModel::FactoredGapModel(const Model& model, const std::vector<Index>& order)
    : W(model.W(Eigen::all, order)), basis(W.transpose()) {
  const Vector variances = model.noise.type() == NoiseType::scalar
                               ? Vector(Vector::Constant(model.dimensions(), model.noise.values()(0)))
                               : Vector(model.noise.values().col(0));
  precision = variances.cwiseInverse();
  squares = basis.cwiseAbs2() * precision.asDiagonal();
  if (model.W_variance.size() > 0) spreads = model.W_variance(Eigen::all, order).transpose() * precision.asDiagonal();
  log_noise = 0.5 * (2 * std::numbers::pi * variances.array()).log();
  const Vector all_psi = model.slab.variances();
  psi = all_psi(order);
  const Eigen::ArrayXd pi = model.pi(order);
  prior_logit = pi.log() - (-pi).log1p();
  pull = model.mu(order).cwiseAbs2().cwiseQuotient(psi);
  constant = (-pi).log1p().sum();
}

}  // namespace gsc
