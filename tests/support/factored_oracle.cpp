#include "factored_oracle.h"

#include <cmath>
#include <numbers>
#include <numeric>

namespace oracle {
namespace {

/// p log(p / q), and its limit 0 at p = 0.
Real relative_entropy(Real p, Real q) { return p == 0 ? 0 : p * std::log(p / q); }

}  // namespace

void FactoredPosterior::set_logit(Index h, Real logit) {
  gamma[h] = 1 / (1 + std::exp(-logit));
  not_gamma[h] = 1 / (1 + std::exp(logit));
}

FactoredParameters::FactoredParameters(const gsc::Model& model)
    : W(model.W.cast<Real>()),
      V(Matrix::Zero(W.rows(), W.cols())),
      b(model.intercept.size() > 0 ? Vector(model.intercept.cast<Real>()) : Vector(Vector::Zero(W.rows()))),
      pi(model.pi.cast<Real>()),
      mu(model.mu.cast<Real>()),
      v(model.slab.variances().cast<Real>()),
      noise(model.noise.covariance().diagonal().cast<Real>()) {
  if (model.W_variance.size() > 0) V = model.W_variance.cast<Real>();
}

FactoredPosterior FactoredOracle::sweep(const Vector& y, Vector means, const std::vector<Index>& order) const {
  const Index D = theta_.W.rows();
  const Index H = latents();
  FactoredPosterior q{Vector::Zero(H), Vector::Zero(H), Vector::Zero(H), Vector::Zero(H)};
  for (const Index h : order) {
    Real precision = 1 / theta_.v[h];
    Real pull = theta_.mu[h] / theta_.v[h];
    for (Index d = 0; d < D; ++d) {
      if (std::isnan(y[d])) continue;
      Real residual = y[d] - theta_.b[d];
      for (Index other = 0; other < H; ++other) {
        if (other != h) residual -= theta_.W(d, other) * means[other];
      }
      precision += (theta_.W(d, h) * theta_.W(d, h) + theta_.V(d, h)) / theta_.noise[d];
      pull += theta_.W(d, h) * residual / theta_.noise[d];
    }
    q.tau2[h] = 1 / precision;
    q.nu[h] = pull / precision;
    q.set_logit(h, std::log(theta_.pi[h]) - std::log1p(-theta_.pi[h]) + std::log(q.tau2[h] / theta_.v[h]) / 2 +
                       q.nu[h] * q.nu[h] / q.tau2[h] / 2 - theta_.mu[h] * theta_.mu[h] / theta_.v[h] / 2);
    means[h] = q.gamma[h] * q.nu[h];
  }
  return q;
}

// The likelihood's quadratic form: with x = s.z and W independent, and a mean and a variance each,
//   E[(y_d - sum_h w_dh x_h)^2] = (y_d - sum_h m_dh <x_h>)^2 + sum_h ((m_dh^2 + V_dh) <x_h^2> - m_dh^2 <x_h>^2)
// The rest is -KL(q(s, z) || p(s, z)); given s_h = 0 the slabs are the same and cancel.
Real FactoredOracle::bound(const Vector& y, const FactoredPosterior& q) const {
  const Vector mean = q.mean();
  const Vector square = q.square();
  Real bound = 0;
  for (Index d = 0; d < y.size(); ++d) {
    if (std::isnan(y[d])) continue;
    Real residual = y[d] - theta_.b[d];
    Real spread = 0;
    for (Index h = 0; h < latents(); ++h) {
      const Real w = theta_.W(d, h);
      residual -= w * mean[h];
      spread += (w * w + theta_.V(d, h)) * square[h] - w * w * mean[h] * mean[h];
    }
    bound -=
        (std::log(2 * std::numbers::pi_v<Real> * theta_.noise[d]) + (residual * residual + spread) / theta_.noise[d]) /
        2;
  }
  for (Index h = 0; h < latents(); ++h) {
    const Real ratio = q.tau2[h] / theta_.v[h];
    const Real shift = q.nu[h] - theta_.mu[h];
    bound -= relative_entropy(q.gamma[h], theta_.pi[h]) + relative_entropy(q.not_gamma[h], 1 - theta_.pi[h]);
    bound -= q.gamma[h] * (ratio - 1 - std::log(ratio) + shift * shift / theta_.v[h]) / 2;
  }
  return bound;
}

Moments FactoredOracle::moments(const Vector& y, const FactoredPosterior& q) const {
  const Index H = latents();
  Moments of;
  of.log_sum = bound(y, q);
  of.s = q.gamma;
  of.m = q.mean();
  of.variance = q.square().array() - of.m.array().square();
  of.zz = of.m * of.m.transpose();
  of.zz.diagonal() = q.square();
  of.ss = of.s * of.s.transpose();
  of.ss.diagonal() = of.s;
  of.lambda = Vector::Zero(H);
  of.T = Matrix::Zero(H, H);
  return of;
}

FactoredSweep sweep(const FactoredOracle& oracle, const gsc::Matrix& data, const gsc::Matrix& codes,
                    const std::vector<Index>& order) {
  const Index H = oracle.latents();
  FactoredSweep result{{}, Matrix(data.rows(), H), Sums(data.cols(), H)};
  for (Index n = 0; n < data.rows(); ++n) {
    const Vector y = point(data, n);
    const Vector start = codes.size() == 0 ? Vector(Vector::Zero(H)) : Vector(codes.col(n).cast<Real>());
    result.points.push_back(oracle.sweep(y, start, order));
    result.means.row(n) = result.points.back().mean().transpose();
    Vector seen = y - oracle.parameters().b;
    for (Real& value : seen)
      if (std::isnan(value)) value = 0;
    result.sums.add(seen, oracle.moments(y, result.points.back()));
  }
  return result;
}

Real total_bound(const FactoredOracle& oracle, const gsc::Matrix& data, const std::vector<FactoredPosterior>& points) {
  Real total = 0;
  for (Index n = 0; n < data.rows(); ++n) {
    total += oracle.bound(point(data, n), points[static_cast<std::size_t>(n)]);
  }
  return total;
}

Real identity_divergence(const FactoredParameters& theta) {
  return (theta.W.array().square() + theta.V.array() - 1 - theta.V.array().log()).sum() / 2;
}

std::vector<Index> fixed_order(Index latents) {
  std::vector<Index> order(static_cast<std::size_t>(latents));
  std::iota(order.begin(), order.end(), Index{0});
  return order;
}

}  // namespace oracle
