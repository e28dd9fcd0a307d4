#include "learning/factored_m_step.h"

#include <algorithm>
#include <cmath>

#include "learning/basis_prior.h"
#include "learning/m_step_parts.h"
#include "math/numeric_scope.h"

namespace gsc {
namespace {

/// pi = mean <s>,  psi = sum <(s z)^2> / sum <s>,  mu = 0
void update_shared_prior(const Statistics& statistics, Model& model, Rescues& rescues) {
  const auto H = static_cast<double>(model.latents());
  const double active = statistics.s.sum(), pi = active / (H * statistics.count);
  const double kept = std::clamp(pi, kSmallestPi, 1 - kSmallestPi);
  if (kept != pi) ++rescues.floored_pi;
  model.pi.setConstant(kept);
  const double psi = statistics.ZZ.trace() / active;
  if (psi > 0 && std::isfinite(psi))
    model.slab = Slab::diagonal(Vector::Constant(model.latents(), psi));
  else
    ++rescues.floored_slab;
}

}  // namespace

void start_factored(const FactoredOptions& options, Model& model, FactoredState& state) {
  model.W_variance.resize(0, 0);
  if (options.basis_prior != BasisPrior::none) start_basis_posterior(options, model, state);
  if (!options.shared_prior) return;
  model.pi.setConstant(model.pi.mean());
  const double second_moment = (model.slab.variances() + model.mu.cwiseAbs2()).mean();
  model.slab = Slab::diagonal(Vector::Constant(model.latents(), second_moment));
  model.mu.setZero();
}

Model factored_m_step(const Model& model, const Statistics& gathered, const FactoredOptions& options,
                      FactoredState& state, Rescues& rescues, bool learn_intercept) {
  const NumericScope scope;
  Model next = model;
  // The best intercept given W, and the sums about it; then W; then the intercept given that.
  Statistics statistics = gathered;
  const auto update_intercept = [&] {
    if (next.intercept.size() == 0 || !learn_intercept) return;
    const Vector step = (statistics.y - next.W * statistics.m) / statistics.count;
    move_intercept(statistics, step);
    next.intercept += step;
  };
  const std::vector<Index> used = used_latents(statistics, rescues);
  update_intercept();
  if (options.basis_prior == BasisPrior::none)
    next.W = updated_basis(model.W, statistics, used);
  else
    update_basis_posterior(options, statistics, next, state);
  update_intercept();
  if (options.shared_prior) {
    update_shared_prior(statistics, next, rescues);
  } else {
    next.pi = updated_pi(statistics, rescues);
    update_diagonal_slab(statistics, used, next, rescues);
  }
  Matrix products = residual_products(next.W, statistics, Update::exact);
  if (next.W_variance.size() > 0) products += next.W_variance * statistics.ZZ.diagonal();
  next.noise = updated_noise(model.noise, products, statistics, rescues);
  return next;
}

}  // namespace gsc
