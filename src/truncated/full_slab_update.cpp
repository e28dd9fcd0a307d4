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

#include "truncated/full_slab_update.h"

#include <cmath>

#include "learning/positive_definite.h"

namespace gsc {
namespace {

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

}  // namespace

void update_full_slab(const Statistics& statistics, const std::vector<Index>& used, const MStepOptions& options,
                      Model& model, Rescues& rescues) {
  if (options.slab_update == Update::paper) return paper_update(statistics, used, model, rescues);
  if (em_update(statistics, used, options.slab_acceleration, model)) return;
  ++rescues.slab_fallbacks;
  // The plain step is a covariance; only rounding of a degenerate one can keep it from being positive definite.
  if (!em_update(statistics, used, 0, model)) ++rescues.floored_slab;
}

}  // namespace gsc
