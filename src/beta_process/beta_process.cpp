#include "beta_process/beta_process.h"

#include <cmath>
#include <numbers>

#include "learning/m_step_parts.h"

namespace gsc {
namespace {

/// log(1 + e^x), which is -log(1 - pi) for x = logit pi.
double softplus(double x) { return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)); }

/// Of log g, g ~ Gamma(shape, rate).
double log_gamma_density(double g, double shape, double rate) {
  return shape * std::log(rate) - std::lgamma(shape) + shape * std::log(g) - rate * g;
}

}  // namespace

BetaProcessSums::BetaProcessSums(Index dimensions, Index latents)
    : active(Vector::Zero(latents)),
      a(Vector::Zero(latents)),
      aa(Matrix::Zero(latents, latents)),
      ay(Matrix::Zero(latents, dimensions)),
      y(Vector::Zero(dimensions)) {}

void BetaProcessSums::clear() {
  points = values = yy = a_squared = 0;
  active.setZero();
  a.setZero();
  aa.setZero();
  ay.setZero();
  y.setZero();
}

BetaProcessSums& BetaProcessSums::operator+=(const BetaProcessSums& other) {
  points += other.points;
  values += other.values;
  active += other.active;
  a += other.a;
  aa += other.aa;
  ay += other.ay;
  y += other.y;
  yy += other.yy;
  a_squared += other.a_squared;
  return *this;
}

double log_joint(const BetaProcessParameters& theta, const BetaProcessPriors& priors, const BetaProcessSums& sums,
                 double residual) {
  const double log_2pi = std::log(2 * std::numbers::pi);
  const auto D = static_cast<double>(theta.W.rows()), H = static_cast<double>(theta.W.cols());
  double sum = 0.5 * sums.values * (std::log(theta.noise_precision) - log_2pi) - 0.5 * theta.noise_precision * residual;
  sum += 0.5 * sums.active.sum() * (std::log(theta.slab_precision) - log_2pi) -
         0.5 * theta.slab_precision * sums.a_squared;
  sum += 0.5 * D * H * (std::log(D) - log_2pi) - 0.5 * D * theta.W.squaredNorm();
  const double log_beta =
      std::lgamma(priors.alpha) + std::lgamma(priors.beta) - std::lgamma(priors.alpha + priors.beta);
  for (Index h = 0; h < theta.W.cols(); ++h) {
    const double off = softplus(theta.logit_pi[h]), on = softplus(-theta.logit_pi[h]);  // -log(1 - pi), -log pi
    sum -= (sums.active[h] + priors.alpha) * on + (sums.points - sums.active[h] + priors.beta) * off + log_beta;
  }
  return sum + log_gamma_density(theta.slab_precision, priors.slab_shape, priors.slab_rate) +
         log_gamma_density(theta.noise_precision, priors.noise_shape, priors.noise_rate);
}

Model as_model(const BetaProcessParameters& theta) {
  const Index H = theta.W.cols();
  Model model;
  model.W = theta.W;
  model.intercept = theta.intercept;
  model.pi = (1 / (1 + (-theta.logit_pi.array()).exp())).max(kSmallestPi).min(1 - kSmallestPi).matrix();
  model.mu = Vector::Zero(H);
  model.slab = Slab::diagonal(Vector::Constant(H, 1 / theta.slab_precision));
  model.noise = Noise::scalar(1 / theta.noise_precision, theta.W.rows());
  return model;
}

BetaProcessParameters from_model(const Model& model) {
  BetaProcessParameters theta;
  theta.W = model.W;
  theta.intercept = model.intercept;
  theta.logit_pi = (model.pi.array() / (1 - model.pi.array())).log().matrix();
  theta.slab_precision = 1 / (model.slab.variances() + model.mu.cwiseAbs2()).mean();
  theta.noise_precision = 1 / model.noise.mean_variance();
  return theta;
}

}  // namespace gsc
