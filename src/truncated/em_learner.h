#pragma once
// Learning by the truncated or the exact posterior: an M-step, and the E-step that judges it; with batches, passes of
// stepwise EM before that. Where the engine can learn where the data lies (gsc/backend/resident_em.h), sums and parameters stay
// there, and the model comes here when somebody asks for it.

#include <gsc/backend/resident_em.h>

#include "learning/learner.h"
#include "truncated/stepwise.h"

namespace gsc {

class EmLearner final : public Learner {
 public:
  EmLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  const Model& model() const override;
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  bool converged(const std::vector<IterationReport>& history, double tolerance) const override;
  std::string note() const override;
  void save(MethodState& state) const override;

  static void check(const FitOptions& options);

 private:
  Evaluation judge();
  Evaluation full_step(int row);
  Evaluation resident_step(int row);
  bool stepwise(int row) const;

  Share& share_;
  const FitOptions& options_;
  mutable Model model_;
  mutable bool model_is_there_ = false;  // and not here
  StopRequest stop_;
  std::unique_ptr<Engine> engine_;
  ResidentEm* resident_ = nullptr;        // the engine's, if it has one for this
  bool has_sums_ = false;                 // gathered under the model, here in statistics_ or there
  std::optional<Stepwise> batches_;       // with options.batch
  bool settled_ = false;                  // passes in batches bring nothing any more
  int full_rows_ = 0;                     // of full EM, after those of batches
  double last_estimate_ = 0;              // free energy of the pass before; 0: there was none
  std::optional<Statistics> statistics_;  // gathered under model_
  double slab_acceleration_, gap_acceleration_;
};

}  // namespace gsc
