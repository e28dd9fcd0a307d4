#pragma once
// Learning by the truncated or the exact posterior: an M-step, and the E-step that judges it.

#include "learning/learner.h"

namespace gsc {

class EmLearner final : public Learner {
 public:
  EmLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  const Model& model() const override { return model_; }
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  void save(MethodState& state) const override;

 private:
  Share& share_;
  const FitOptions& options_;
  Model model_;
  StopRequest stop_;
  std::unique_ptr<Engine> engine_;
  Statistics statistics_;  // gathered under model_
  double slab_acceleration_;
};

}  // namespace gsc
