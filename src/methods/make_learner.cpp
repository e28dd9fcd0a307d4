#include "learning/learner.h"

#include <cmath>

#include "beta_process/learner.h"
#include "beta_process/variational_learner.h"
#include "dictionary/feature_sign_learner.h"
#include "dictionary/ksvd_learner.h"
#include "dictionary/online_learner.h"
#include "factored/learner.h"
#include "truncated/em_learner.h"

namespace gsc {

std::unique_ptr<Learner> make_learner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop) {
  switch (options.inference.method) {
    case Method::factored:
      return std::make_unique<FactoredLearner>(share, options, std::move(beginning), std::move(stop));
    case Method::ksvd:
      return std::make_unique<KsvdLearner>(share, options, std::move(beginning), std::move(stop));
    case Method::online:
      return std::make_unique<OnlineLearner>(share, options, std::move(beginning), std::move(stop));
    case Method::feature_sign:
      return std::make_unique<FeatureSignLearner>(share, options, std::move(beginning), std::move(stop));
    case Method::beta_process:
      return std::make_unique<BetaProcessLearner>(share, options, std::move(beginning), std::move(stop));
    case Method::beta_variational:
      return std::make_unique<BetaVariationalLearner>(share, options, std::move(beginning), std::move(stop));
    case Method::truncated:
    case Method::exact:
      break;
  }
  return std::make_unique<EmLearner>(share, options, std::move(beginning), std::move(stop));
}

void check_method(const FitOptions& options) {
  switch (options.inference.method) {
    case Method::factored:
      return FactoredLearner::check(options);
    case Method::ksvd:
      return KsvdLearner::check(options);
    case Method::online:
      return OnlineLearner::check(options);
    case Method::feature_sign:
      return FeatureSignLearner::check(options);
    case Method::beta_process:
      return BetaProcessLearner::check(options);
    case Method::beta_variational:
      return BetaVariationalLearner::check(options);
    case Method::truncated:
    case Method::exact:
      return EmLearner::check(options);
  }
}

bool Learner::converged(const std::vector<IterationReport>& history, double tolerance) const {
  if (tolerance <= 0 || history.size() < 2) return false;
  const IterationReport &last = history.back(), &before = history[history.size() - 2];
  if (last.estimated || before.estimated) return false;
  return std::abs(last.free_energy - before.free_energy) < tolerance * std::abs(last.free_energy);
}

ResidentEm* resident_of(Engine& engine, const Share& share, const Model& model, const FitOptions& options) {
  if (!share.team().alone() || options.sharing.partition != Partition::uniform) return nullptr;
  return engine.resident(model, {.noise_update = options.noise_update,
                                 .slab_update = options.slab_update,
                                 .learn_intercept = options.intercept == Intercept::learned});
}

Evaluation evaluation(const Statistics& statistics, const Rescues& rescues) {
  return {statistics.free_energy,
          statistics.s.sum() / statistics.count,
          (statistics.s.array() >= 1).count(),
          rescues,
          false,
          {}};
}

Evaluation evaluation(const ResidentRow& row) {
  return {row.free_energy, row.s.sum() / row.count, (row.s.array() >= 1).count(), row.rescues,
          false,           row.noise_variance};
}

}  // namespace gsc
