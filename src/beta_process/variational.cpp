#include "beta_process/variational.h"

#include <Eigen/Cholesky>
#include <cmath>
#include <numbers>

#include "learning/m_step_parts.h"
#include "math/blas.h"
#include "math/digamma.h"

namespace gsc {
namespace {

double sum_of(const Statistics& codes, const Matrix& gram) { return gram.cwiseProduct(codes.ZZ).sum(); }

/// <|y - W a|^2>, summed over the data points.
double mean_residual(const VariationalFactors& q, const Statistics& codes) {
  return codes.YY.sum() - 2 * q.M.cwiseProduct(codes.YZ).sum() + sum_of(codes, q.mean_gram());
}

/// <log p(y | a, W, g_e) + log p(a | pi, g_s)>
double mean_log_likelihood(const VariationalFactors& q, const Statistics& codes) {
  const double log_2pi = std::log(2 * std::numbers::pi);
  const double N = codes.count, D = static_cast<double>(q.M.rows());
  double sum = 0.5 * N * D * (q.noise.mean_log() - log_2pi) - 0.5 * q.noise.mean() * mean_residual(q, codes);
  sum += 0.5 * codes.s.sum() * (q.slab.mean_log() - log_2pi) - 0.5 * q.slab.mean() * codes.ZZ.trace();
  return sum + codes.s.dot(q.mean_log_pi()) + (N - codes.s.array()).matrix().dot(q.mean_log_off());
}

double log_determinant(const Matrix& C) { return 2 * Eigen::LLT<Matrix>(C).matrixLLT().diagonal().array().log().sum(); }

/// sum_d KL(N(m_d, C), N(0, I/D))
double basis_divergence(const VariationalFactors& q) {
  const auto D = static_cast<double>(q.M.rows()), H = static_cast<double>(q.M.cols());
  return 0.5 * (D * (D * q.C.trace() - H * (1 + std::log(D)) - log_determinant(q.C)) + D * q.M.squaredNorm());
}

double pi_divergence(const VariationalFactors& q, const BetaProcessPriors& priors) {
  const auto log_beta = [](double a, double b) { return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b); };
  const Vector log_on = q.mean_log_pi(), log_off = q.mean_log_off();
  double sum = 0;
  for (Index h = 0; h < q.on.size(); ++h)
    sum += log_beta(priors.alpha, priors.beta) - log_beta(q.on[h], q.off[h]) + (q.on[h] - priors.alpha) * log_on[h] +
           (q.off[h] - priors.beta) * log_off[h];
  return sum;
}

}  // namespace

double GammaFactor::mean_log() const { return digamma(shape) - std::log(rate); }

double GammaFactor::divergence(double prior_shape, double prior_rate) const {
  return (shape - prior_shape) * digamma(shape) - std::lgamma(shape) + std::lgamma(prior_shape) +
         prior_shape * (std::log(rate) - std::log(prior_rate)) + shape * (prior_rate - rate) / rate;
}

Matrix VariationalFactors::mean_gram() const {
  Matrix B = static_cast<double>(M.rows()) * C;
  add_product_transposed(M, M, B);
  return B;
}

Vector VariationalFactors::mean_log_pi() const {
  Vector result(on.size());
  for (Index h = 0; h < on.size(); ++h) result[h] = digamma(on[h]) - digamma(on[h] + off[h]);
  return result;
}

Vector VariationalFactors::mean_log_off() const {
  Vector result(on.size());
  for (Index h = 0; h < on.size(); ++h) result[h] = digamma(off[h]) - digamma(on[h] + off[h]);
  return result;
}

VariationalFactors factors_around(const BetaProcessParameters& theta, double points) {
  const Index D = theta.W.rows(), H = theta.W.cols();
  VariationalFactors q;
  q.M = theta.W;
  q.C = Matrix::Identity(H, H) / (static_cast<double>(D) + points);
  q.intercept = theta.intercept;
  const auto pi = 1 / (1 + (-theta.logit_pi.array()).exp());
  q.on = (1 + points * pi).matrix();
  q.off = (1 + points * (1 - pi)).matrix();
  q.slab = {points, points / theta.slab_precision};
  q.noise = {points, points / theta.noise_precision};
  return q;
}

Model as_model(const VariationalFactors& q) {
  BetaProcessParameters theta;
  theta.W = q.M;
  theta.intercept = q.intercept;
  theta.logit_pi = (q.on.array() / q.off.array()).log().matrix();
  theta.slab_precision = q.slab.mean();
  theta.noise_precision = q.noise.mean();
  Model model = as_model(theta);
  model.W_variance = q.C.diagonal().transpose().replicate(q.M.rows(), 1);
  return model;
}

FactoredModel codes_model(const VariationalFactors& q, std::vector<Index> order) {
  const Index D = q.M.rows(), H = q.M.cols();
  Model shapes = as_model(q);
  FactoredModel result(shapes, std::move(order));
  const double g_e = q.noise.mean(), g_s = q.slab.mean();
  const Matrix B = q.mean_gram();
  result.gram = g_e * B(result.order, result.order);
  const Vector log_on = q.mean_log_pi(), log_off = q.mean_log_off();
  for (Index i = 0; i < H; ++i) {
    const Index h = result.order[static_cast<std::size_t>(i)];
    const double A = g_e * B(h, h), tau2 = 1 / (A + g_s);
    FactoredLatent& latent = result.factors[static_cast<std::size_t>(i)];
    latent.gram = A;
    latent.tau2 = tau2;
    latent.offset = 0;
    latent.logit = log_on[h] - log_off[h] + 0.5 * (q.slab.mean_log() + std::log(tau2));
    latent.unit = std::sqrt(A);
  }
  result.constant =
      log_off.sum() + 0.5 * static_cast<double>(D) * (q.noise.mean_log() - std::log(2 * std::numbers::pi));
  return result;
}

double codes_entropy(const VariationalFactors& q, const Statistics& codes) {
  return codes.free_energy - mean_log_likelihood(q, codes);
}

double bound(const VariationalFactors& q, const BetaProcessPriors& priors, const Statistics& codes, double entropy) {
  return mean_log_likelihood(q, codes) + entropy - basis_divergence(q) - pi_divergence(q, priors) -
         q.slab.divergence(priors.slab_shape, priors.slab_rate) -
         q.noise.divergence(priors.noise_shape, priors.noise_rate);
}

void update_basis(const Statistics& codes, VariationalFactors& q) {
  const Index H = q.M.cols();
  Matrix precision = q.noise.mean() * codes.ZZ;
  precision.diagonal().array() += static_cast<double>(q.M.rows());
  q.C = Matrix::Identity(H, H);
  solve_positive_definite(precision, q.C);
  q.C = (0.5 * (q.C + q.C.transpose())).eval();
  q.M = q.noise.mean() * product(codes.YZ, q.C);
}

void update_intercept(Statistics& codes, VariationalFactors& q) {
  const Vector step = (codes.y - q.M * codes.m) / codes.count;
  move_intercept(codes, step);
  q.intercept += step;
}

void update_pi(const Statistics& codes, const BetaProcessPriors& priors, VariationalFactors& q) {
  q.on = (priors.alpha + codes.s.array()).matrix();
  q.off = (priors.beta + (codes.count - codes.s.array()).max(0.0)).matrix();
}

void update_slab(const Statistics& codes, const BetaProcessPriors& priors, VariationalFactors& q) {
  q.slab = {priors.slab_shape + 0.5 * codes.s.sum(), priors.slab_rate + 0.5 * codes.ZZ.trace()};
}

void update_noise(const Statistics& codes, const BetaProcessPriors& priors, VariationalFactors& q) {
  q.noise = {priors.noise_shape + 0.5 * codes.count * static_cast<double>(q.M.rows()),
             priors.noise_rate + 0.5 * std::max(0.0, mean_residual(q, codes))};
}

}  // namespace gsc
