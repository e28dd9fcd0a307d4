#pragma once
// Learning by the truncated or the exact posterior: an M-step, and the E-step that judges it; with batches, passes of
// stepwise EM before that. Where that is computed, and whether sums and parameters come here, is the ResidentEm's.

#include <gsc/backend/resident_em.h>

#include "learning/learner.h"
#include "truncated/stepwise.h"

namespace gsc {

class EmLearner final : public Learner {
 public:
  EmLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  Model model() const override { return em_->model(); }
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  bool converged(const std::vector<IterationReport>& history, double tolerance) const override;
  std::string note() const override;
  void save(MethodState& state) const override;

  static void check(const FitOptions& options);

 private:
  Evaluation judge();
  Evaluation full_step(int row);
  ResidentRow stepped(const ResidentStep& step);
  bool stepwise(int row) const;

  Share& share_;
  const FitOptions& options_;
  StopRequest stop_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<ResidentEm> em_;
  bool fast_slab_;                   // a full one, whose step may be longer than EM's
  std::optional<Stepwise> batches_;  // with options.batch
  bool settled_ = false;             // passes in batches bring nothing any more
  int full_rows_ = 0;                // of full EM, after those of batches
  double last_estimate_ = 0;         // free energy of the pass before; 0: there was none
  std::optional<ResidentRow> last_;  // of all data, under the model
  double slab_acceleration_, gap_acceleration_;
};

}  // namespace gsc
