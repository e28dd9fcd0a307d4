#include "factored/model.h"

#include <cmath>
#include <numbers>

#include "math/blas.h"

namespace gsc {

FactoredModel::FactoredModel(const Model& model, std::vector<Index> latent_order, bool with_gaps)
    : dimensions(model.dimensions()),
      latents(model.latents()),
      order(std::move(latent_order)),
      intercept(model.intercept) {
  if (model.noise.type() == NoiseType::full)
    throw UsageError("noise is full, but the factored method is for scalar or diagonal noise");
  if (model.slab.type() == SlabType::full)
    throw UsageError("slab is full, but the factored method is for a diagonal slab");
  const Matrix W = model.W(Eigen::all, order);
  const Matrix PW = model.noise.solve(W);
  projection = PW.transpose();
  gram = product(projection, W);
  gram = (0.5 * (gram + gram.transpose())).eval();
  Vector uncertainty = Vector::Zero(latents);  // tr(P V_h)
  if (model.W_variance.size() > 0)
    uncertainty = model.noise.solve(model.W_variance(Eigen::all, order)).colwise().sum().transpose();

  const Vector psi = model.slab.variances();
  constant = -0.5 * (static_cast<double>(dimensions) * std::log(2 * std::numbers::pi) + model.noise.log_determinant());
  for (Index i = 0; i < latents; ++i) {
    const Index h = order[static_cast<std::size_t>(i)];
    const double pi = model.pi[h], mu = model.mu[h], v = psi[h], A = gram(i, i) + uncertainty[i];
    const double tau2 = 1 / (A + 1 / v);
    FactoredLatent latent;
    latent.gram = gram(i, i);
    latent.tau2 = tau2;
    latent.offset = mu / v;
    latent.logit = std::log(pi) - std::log1p(-pi) + 0.5 * std::log(tau2 / v) - 0.5 * tau2 * A * mu * mu / v;
    latent.unit = std::sqrt(A);
    factors.push_back(latent);
    constant += std::log1p(-pi);
  }
  if (with_gaps) gaps = std::make_shared<const FactoredGapModel>(model, order);
}

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
