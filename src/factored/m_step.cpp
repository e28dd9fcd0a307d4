#include "factored/m_step.h"

#include <algorithm>
#include <cmath>

#include "factored/basis_prior.h"
#include "learning/m_step_parts.h"
#include "math/numeric_scope.h"
#include "truncated/gap_m_step.h"

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

/// The best intercept given W, and the sums about it.
void update_intercept(bool learn, Statistics& statistics, Model& next) {
  if (next.intercept.size() == 0 || !learn) return;
  Vector step = statistics.y - next.W * statistics.m;
  if (has_gaps(statistics)) {
    step += next.W.cwiseProduct(statistics.missing_m).rowwise().sum();
    const Vector counts = observed_counts(statistics);
    for (Index d = 0; d < step.size(); ++d)
      step[d] = counts[d] > kObserved * statistics.count ? step[d] / counts[d] : 0;
  } else {
    step /= statistics.count;
  }
  move_intercept(statistics, step);
  next.intercept += step;
}

/// The intercept, then W, then the intercept given that; then the noise.
void update_basis_and_noise(const FactoredOptions& options, const std::vector<Index>& used, bool learn_intercept,
                            Statistics& statistics, Model& next, FactoredState& state, Rescues& rescues) {
  update_intercept(learn_intercept, statistics, next);
  if (options.basis_prior == BasisPrior::none)
    next.W = updated_basis(next.W, statistics, used);
  else
    update_basis_posterior(options, statistics, next, state);
  update_intercept(learn_intercept, statistics, next);
  Matrix products = residual_products(next.W, statistics, Update::exact);
  if (next.W_variance.size() > 0) products += next.W_variance * statistics.ZZ.diagonal();
  next.noise = updated_noise(next.noise, products, statistics, rescues);
}

/// The same where values are missing and W has a posterior.
void update_uncertain_basis_with_gaps(const FactoredOptions& options, bool learn_intercept, int threads,
                                      Statistics& statistics, Model& next, FactoredState& state, Rescues& rescues) {
  update_intercept(learn_intercept, statistics, next);
  const Vector explained = update_basis_posterior_with_gaps(options, statistics, threads, next, state);
  update_intercept(learn_intercept, statistics, next);
  const Vector residuals = statistics.YY + explained - 2 * next.W.cwiseProduct(statistics.YZ).rowwise().sum();
  next.noise = noise_with_gaps(next.noise, residuals, observed_counts(statistics), 0, statistics, rescues);
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
                      FactoredState& state, Rescues& rescues, bool learn_intercept, int threads) {
  const NumericScope scope;
  Model next = model;
  Statistics statistics = gathered;
  const std::vector<Index> used = used_latents(statistics, rescues);
  if (has_gaps(statistics) && options.basis_prior == BasisPrior::none)
    update_with_gaps(model, statistics, used, {.learn_intercept = learn_intercept, .threads = threads}, next, rescues);
  else if (has_gaps(statistics))
    update_uncertain_basis_with_gaps(options, learn_intercept, threads, statistics, next, state, rescues);
  else
    update_basis_and_noise(options, used, learn_intercept, statistics, next, state, rescues);
  if (options.shared_prior) {
    update_shared_prior(statistics, next, rescues);
  } else {
    next.pi = updated_pi(statistics, rescues);
    update_diagonal_slab(statistics, used, next, rescues);
  }
  return next;
}

}  // namespace gsc
