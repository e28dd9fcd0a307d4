#pragma once
// Learning by the factored posterior (docs/methods.md): a sweep over the latents of every data point, from the
// posterior means of the sweep before, and the best parameters given it.

#include "factored/basis_prior.h"
#include "factored/engine.h"
#include "learning/learner.h"

namespace gsc {

class FactoredLearner final : public Learner {
 public:
  FactoredLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  Model model() const override { return model_; }
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  void save(MethodState& state) const override;

  static void check(const FitOptions& options);

 private:
  void start(std::optional<double> data_variance);
  Evaluation sweep(int row, const Rescues& rescues);

  Share& share_;
  const FitOptions& options_;
  Model model_;
  StopRequest stop_;
  FactoredEngine engine_;
  FactoredState state_;    // codes: this rank's columns
  Matrix codes_;           // <s.z> after the last sweep
  Statistics statistics_;  // of the last sweep
};

}  // namespace gsc
