// Parts of the M-step that the methods share; formulas on top of truncated/m_step.cpp.

#include "learning/m_step_parts.h"

#include <gsc/rescues.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "inference/statistics_shapes.h"
#include "learning/positive_definite.h"
#include "math/blas.h"

namespace gsc {

std::vector<Index> used_latents(const Statistics& statistics, Rescues& rescues) {
  std::vector<Index> used;
  for (Index h = 0; h < statistics.s.size(); ++h)
    if (statistics.s[h] > kSmallestPi * statistics.count && statistics.ZZ(h, h) > 0) used.push_back(h);
  rescues.unused_latents += statistics.s.size() - static_cast<Index>(used.size());
  return used;
}

Matrix updated_basis(const Matrix& W, const Statistics& statistics, const std::vector<Index>& used) {
  constexpr double kRidge = 1e-9;
  if (used.empty()) return W;
  std::vector<Index> kept;
  for (Index h = 0; h < W.cols(); ++h)
    if (!std::binary_search(used.begin(), used.end(), h)) kept.push_back(h);

  const Matrix ZZ = statistics.ZZ(used, used), old = W(Eigen::all, used);
  Matrix YZ = statistics.YZ(Eigen::all, used);
  if (!kept.empty()) YZ -= W(Eigen::all, kept) * statistics.ZZ(kept, used);
  for (double ridge = kRidge;; ridge *= 100) {
    Matrix damped = ZZ, solution = YZ + ridge * old * ZZ.diagonal().asDiagonal();
    damped.diagonal() += ridge * ZZ.diagonal();
    if (!solve_positive_definite(damped, solution) && ridge < 1) continue;
    Matrix result = W;
    result(Eigen::all, used) = solution;
    return result;
  }
}

Statistics centred(const Statistics& statistics) {
  Statistics result = statistics;
  const Vector mean_m = statistics.m / statistics.count, mean_y = statistics.y / statistics.count;
  result.ZZ.noalias() -= statistics.m * mean_m.transpose();
  result.YZ.noalias() -= statistics.y * mean_m.transpose();
  if (result.YY.cols() == result.YY.rows())
    result.YY.noalias() -= statistics.y * mean_y.transpose();
  else
    result.YY -= statistics.y.cwiseProduct(mean_y);
  return result;
}

void move_intercept(Statistics& statistics, const Vector& step) {
  if (has_gaps(statistics)) {  // only observed entries have moved
    const Vector counts = observed_counts(statistics);
    statistics.YZ -= step * statistics.m.transpose() - step.asDiagonal() * statistics.missing_m;
    statistics.YY += counts.cwiseProduct(step.cwiseAbs2()) - 2 * step.cwiseProduct(statistics.y);
    statistics.y -= counts.cwiseProduct(step);
    return;
  }
  statistics.YZ.noalias() -= step * statistics.m.transpose();
  if (statistics.YY.cols() == statistics.YY.rows())
    statistics.YY +=
        statistics.count * step * step.transpose() - step * statistics.y.transpose() - statistics.y * step.transpose();
  else
    statistics.YY += statistics.count * step.cwiseAbs2() - 2 * step.cwiseProduct(statistics.y);
  statistics.y -= statistics.count * step;
}

Vector updated_pi(const Statistics& statistics, Rescues& rescues) {
  Vector pi = statistics.s / statistics.count;
  for (double& p : pi) {
    const double kept = std::clamp(p, kSmallestPi, 1 - kSmallestPi);
    if (kept != p) ++rescues.floored_pi;
    p = kept;
  }
  return pi;
}

void update_diagonal_slab(const Statistics& statistics, const std::vector<Index>& used, Model& model,
                          Rescues& rescues) {
  Vector psi = model.slab.variances();
  for (const Index h : used) {
    const double second = statistics.ZZ(h, h) / statistics.s[h];
    model.mu[h] = statistics.m[h] / statistics.s[h];
    psi[h] = second - model.mu[h] * model.mu[h];
    // Below this share of the second moment the difference is rounding.
    const double floor = std::max(1e-12 * second, 1e-300);
    if (!(psi[h] >= floor)) {
      psi[h] = floor;
      ++rescues.floored_slab;
    }
  }
  model.slab = Slab::diagonal(psi);
}

Matrix residual_products(const Matrix& W, const Statistics& statistics, Update update) {
  const bool full = statistics.YY.cols() > 1 || statistics.YY.rows() == 1;
  if (update == Update::paper) {
    const Matrix WM = product(W, statistics.MM);
    if (full) return statistics.YY - WM * W.transpose();
    return statistics.YY - WM.cwiseProduct(W).rowwise().sum();
  }
  const Matrix difference = product(W, statistics.ZZ) - 2 * statistics.YZ;
  if (full) {
    const Matrix product = difference * W.transpose();
    return statistics.YY + 0.5 * (product + product.transpose());
  }
  return statistics.YY + difference.cwiseProduct(W).rowwise().sum();
}

Noise updated_noise(const Noise& old, const Matrix& products, const Statistics& statistics, Rescues& rescues) {
  Matrix covariance = products / statistics.count;
  const double power = (statistics.YY.cols() > 1 ? statistics.YY.trace() : statistics.YY.sum()) /
                       (statistics.count * static_cast<double>(old.dimensions()));
  const double floor = std::max(1e-12 * power, 1e-300);
  if (old.type() == NoiseType::full) return Noise::full(hold_above(covariance, floor, rescues.floored_noise));
  Vector variances = covariance.col(0);
  if (old.type() == NoiseType::scalar) variances = Vector::Constant(1, variances.mean());
  for (double& variance : variances)
    if (!(variance >= floor)) {
      variance = floor;
      ++rescues.floored_noise;
    }
  return old.type() == NoiseType::scalar ? Noise::scalar(variances[0], old.dimensions()) : Noise::diagonal(variances);
}

Rescues& Rescues::operator+=(const Rescues& other) {
  for_each_rescue([&](auto member, auto...) { this->*member += other.*member; });
  return *this;
}

std::int64_t Rescues::total() const {
  std::int64_t sum = 0;
  for_each_rescue([&](auto member, auto...) { sum += this->*member; });
  return sum;
}

}  // namespace gsc
