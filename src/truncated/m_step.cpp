// The M-step: parameters from Statistics. Symbols as in <gsc/model.h> and <gsc/inference.h>.
//
//   W     = YZ ZZ^-1                      with an intercept b all sums about their means, and b += (y - W m) / N
//   pi    = s / N
//   mu    = m / s,  psi = ZZ_hh / s - mu^2                                diagonal slab; full slab: see below
//   Sigma = (YY - W YZ' - YZ W' + W ZZ W') / N                            exact for any W; then its diagonal or trace/D
//
// The paper prints Sigma with W (sum <s.z><s.z>') W', which over-estimates the noise; Update::paper gives that.

#include <gsc/fit.h>

#include <gsc/rescues.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "learning/m_step_parts.h"
#include "learning/positive_definite.h"
#include "math/blas.h"
#include "math/numeric_scope.h"
#include "truncated/gap_m_step.h"

namespace gsc {
namespace {

// mu and Psi for a full slab. A state observes only the amplitudes of its active latents, so this is a missing-data
// problem, and the paper's formula does not maximise the free energy. The EM step is
//
//   delta = (1/N) Psi sum E[lambda]        mu  <- mu + delta
//                                          Psi <- Psi + (1/N) Psi T Psi - delta delta'
//
// (mean and covariance of z with the unobserved part filled in from the prior). Where latents are rare nearly all of z
// is filled in and the step is slow by a factor pi. The preconditioned step
//
//   delta = (1/N) R Psi R sum E[lambda]    Psi <- Psi + (1/N) R Psi T Psi R - delta delta',    R = diag(pi)^(-alpha/2)
//
// equals, for a diagonal Psi and alpha = 1, the exact maximum mu = m/s, psi = ZZ/s - mu^2. It may overshoot, so it must
// stay positive definite (checked here) and not lower the free energy (checked by fit(), which then reduces alpha).

/// sum(ZZ - SS.mu mu') / SS, element by element; pairs never active together are uncorrelated.
void paper_update(const Statistics& statistics, const std::vector<Index>& used, Model& model, Rescues& rescues) {
  Matrix Psi = model.slab.covariance();
  for (const Index h : used) model.mu[h] = statistics.m[h] / statistics.s[h];
  for (const Index i : used)
    for (const Index j : used) {
      const double together = statistics.SS(i, j);
      Psi(i, j) = together > 1e-10 * statistics.count ? statistics.ZZ(i, j) / together - model.mu[i] * model.mu[j] : 0;
    }
  const double floor = std::max(1e-8 * Psi.diagonal().cwiseAbs().mean(), 1e-300);
  model.slab = Slab::full(make_positive_definite(Psi, floor, rescues.floored_slab));
}

/// The step with R = diag(pi)^(-acceleration/2); false, leaving the model alone, if it is not positive definite.
bool em_update(const Statistics& statistics, const std::vector<Index>& used, double acceleration, Model& model) {
  const Matrix Psi = model.slab.covariance();
  Vector R = Vector::Ones(Psi.rows());
  for (const Index h : used) R[h] = std::pow(model.pi[h], -acceleration / 2);
  const Vector delta = R.cwiseProduct(Psi * R.cwiseProduct(statistics.lambda)) / statistics.count;
  const Matrix step = R.asDiagonal() * (Psi * statistics.T * Psi) * R.asDiagonal() / statistics.count;
  Matrix next = Psi + step - delta * delta.transpose();
  next = 0.5 * (next + next.transpose()).eval();
  if (!is_positive_definite(next)) return false;
  model.mu += delta;
  model.slab = Slab::full(next);
  return true;
}

/// Updates mu and slab of `model`, whose pi is already the new one.
void update_full_slab(const Statistics& statistics, const std::vector<Index>& used, const MStepOptions& options,
                      Model& model, Rescues& rescues) {
  if (options.slab_update == Update::paper) return paper_update(statistics, used, model, rescues);
  if (em_update(statistics, used, options.slab_acceleration, model)) return;
  ++rescues.slab_fallbacks;
  // The plain step is a covariance; only rounding of a degenerate one can keep it from being positive definite.
  if (!em_update(statistics, used, 0, model)) ++rescues.floored_slab;
}

/// pi, mu and slab.
void update_prior(const Statistics& statistics, const std::vector<Index>& used, const MStepOptions& options,
                  Model& next, Rescues& rescues) {
  next.pi = updated_pi(statistics, rescues);
  if (next.slab.type() == SlabType::diagonal)
    update_diagonal_slab(statistics, used, next, rescues);
  else
    update_full_slab(statistics, used, options, next, rescues);
}

}  // namespace

Model m_step(const Model& model, const Statistics& statistics, const MStepOptions& options, Rescues& rescues) {
  const NumericScope scope;
  if (options.noise_update == Update::paper && options.learn_intercept && model.intercept.size() > 0)
    throw UsageError("noise_update is paper, whose formula has no intercept; let the intercept be the mean, or none");
  if (options.noise_update == Update::paper && statistics.MM.size() == 0)
    throw UsageError(
        "noise_update is paper, but the statistics were gathered without mean_products; set it for the E-step");
  const std::vector<Index> used = used_latents(statistics, rescues);
  Model next = model;
  if (has_gaps(statistics)) {
    if (options.noise_update == Update::paper)
      throw UsageError("noise_update is paper, whose formula has no missing values; set it to exact");
    update_with_gaps(model, statistics, used, options, next, rescues);
    update_prior(statistics, used, options, next, rescues);
    return next;
  }
  const bool with_intercept = model.intercept.size() > 0 && options.learn_intercept;
  const Statistics about_means = with_intercept ? centred(statistics) : Statistics();
  const Statistics& sums = with_intercept ? about_means : statistics;
  // A latent that is always on, always alike, is what the intercept is, too.
  std::vector<Index> varying;
  std::copy_if(used.begin(), used.end(), std::back_inserter(varying),
               [&](Index h) { return sums.ZZ(h, h) > 1e-12 * statistics.ZZ(h, h); });
  next.W = updated_basis(model.W, sums, varying);
  if (with_intercept) next.intercept += (statistics.y - next.W * statistics.m) / statistics.count;
  update_prior(statistics, used, options, next, rescues);
  next.noise = updated_noise(model.noise, residual_products(next.W, sums, options.noise_update), statistics, rescues);
  return next;
}

}  // namespace gsc
