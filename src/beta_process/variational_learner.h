#pragma once
// Learning the Beta process by variational Bayes (beta_process_variational.h). An iteration makes the best factors one
// after the other, then a sweep over the codes of all data points, which judges them.

#include "beta_process/variational.h"
#include "factored/engine.h"
#include "learning/learner.h"

namespace gsc {

class BetaVariationalLearner final : public Learner {
 public:
  BetaVariationalLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  Model model() const override { return model_; }
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  void save(MethodState& state) const override;

  static void check(const FitOptions& options);

 private:
  void restore(const MethodState& state);
  Evaluation sweep(int row);

  const FitOptions& options_;
  Model model_;
  StopRequest stop_;
  BetaProcessPriors priors_;
  FactoredEngine engine_;
  VariationalFactors q_;
  Statistics statistics_;  // of the last sweep
  Matrix codes_, next_;    // <a> from which the sweep of the last row started, and those it left
};

}  // namespace gsc
