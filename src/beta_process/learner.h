#pragma once
// Learning by Gibbs sampling (beta_process_gibbs.h): an iteration is a sweep of every chain. Once burn_in sweeps are
// done (half of the iterations, where burn_in is all of them) the model is the running average of the draws, of the
// chain with the highest log joint probability on average; before, it is the last draw.
//
// A model, which unlike a checkpoint has no codes, goes on from the last draws of its parameters: the codes are drawn
// anew, the chains burn in anew, and until then the model is what it was.

#include "beta_process/chain_averages.h"
#include "beta_process/gibbs.h"
#include "learning/learner.h"

namespace gsc {

class BetaProcessLearner final : public Learner {
 public:
  BetaProcessLearner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);
  Model model() const override { return model_; }
  Evaluation begin(int row) override;
  Evaluation iterate(int row) override;
  /// Draws go up and down for ever.
  bool converged(const std::vector<IterationReport>&, double) const override { return false; }
  std::string note() const override;
  void save(MethodState& state) const override;

  static void check(const FitOptions& options);

 private:
  /// What the state's chains were at: their parameters, and where it is a checkpoint their codes and averages.
  enum class Saved { nothing, parameters, all };
  Saved restore(const MethodState& state, const Data& data);
  /// Draws of later rows are averaged, where learning goes on at this one.
  int last_burn_in(int row);
  Evaluation judge();

  const FitOptions& options_;
  Model model_;
  StopRequest stop_;
  std::vector<GibbsChain> chains_;
  std::vector<ChainAverages> averages_;
  Saved saved_ = Saved::nothing;
  int burn_in_;  ///< the last row whose draw is not averaged
};

/// What both ways to the posterior of the Beta process refuse.
void check_beta_process(const FitOptions& options);
/// Throws UsageError where there are fewer data points than latents.
void check_enough_data(const Data& data, Index latents);
/// Parameters to start from: basis functions of unit length, their amplitudes in return as large as the model has them,
/// every latent rarely on. `data_variance` for a model drawn at random, which knows nothing of the data's scale.
BetaProcessParameters beta_process_start(const Model& model, std::optional<double> data_variance);
/// For so many latents. The rates of the precisions are 1e-6 of the data's mean variance, so that data in other units
/// has the same posterior in those units.
BetaProcessPriors beta_process_priors(UsagePrior kind, Share& share, bool missing, Index latents);

}  // namespace gsc
