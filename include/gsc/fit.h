#pragma once
// Learning: the EM loop, its options, and what it reports.

#include <gsc/export.h>
#include <gsc/inference.h>
#include <gsc/model.h>
#include <gsc/rescues.h>
#include <gsc/team.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace gsc {

enum class Update { exact, paper };

struct MStepOptions {
  Update noise_update = Update::exact;  ///< paper: the printed formula, which over-estimates the noise (docs/model.md)
  Update slab_update = Update::exact;  ///< paper: full slab by the printed element-wise formula, made positive definite
  bool learn_intercept = true;         ///< where the model has one
  /// Full slab: 1 is the fast preconditioned step, 0 the plain EM step; fit() lowers it when the free energy falls.
  double slab_acceleration = 1;
  /// Missing values beyond InferenceOptions::gap_memory: 1 is the long step for W, 0 that of plain EM; as above.
  double gap_acceleration = 1;
  int threads = 1;  ///< for rows of W with missing values
};

/// The parameters that maximise the expected log joint given `statistics`, which were gathered under `model`.
GSC_EXPORT Model m_step(const Model& model, const Statistics& statistics, const MStepOptions& options,
                        Rescues& rescues);

enum class BasisPrior { none, identity, gp };
enum class SweepOrder { random, fixed };

/// Learning by the factored method (Titsias and Lazaro-Gredilla 2011; docs/methods.md).
struct FactoredOptions {
  /// Of each column of W. none: W is a point estimate. identity: N(0, I). gp: a Gaussian process, squared-exponential
  /// over the positions of FitOptions::shape.
  BasisPrior basis_prior = BasisPrior::identity;
  double length_scale = 0;  ///< gp, in pixels or samples; 0: learned
  /// One pi and one slab variance for all latents and slab mean 0, as in that paper; else they are learned as in the
  /// other methods.
  bool shared_prior = true;
  SweepOrder order = SweepOrder::random;
};

/// How often latents may be on, before the data is seen: pi ~ Beta(1, N/8), as the authors' program has it, or
/// Beta(1/H, (H-1)/H) as in their paper.
enum class UsagePrior { program, paper };

/// Learning by Beta process factor analysis (Zhou et al. 2012; docs/methods.md).
struct BetaProcessOptions {
  UsagePrior usage_prior = UsagePrior::program;
  int chains = 1;    ///< sampling: so many chains side by side; the model is that of the best
  int burn_in = 30;  ///< sampling: sweeps before draws are averaged
};

struct GSC_EXPORT FitOptions {
  Index latents = 64;  ///< H
  InferenceOptions inference;
  NoiseType noise = NoiseType::scalar;
  SlabType slab = SlabType::diagonal;
  Init init = Init::data;
  Intercept intercept = Intercept::learned;
  /// The noise's standard deviation, if it is known: then it is not learned. It starts higher and comes down to this in
  /// the first quarter of the iterations, so that what is strong is learned first. 0: learned. Methods that must be
  /// told it take it as it is; 0: an estimate, of which a note tells.
  double sigma = 0;
  Update noise_update = Update::exact;
  Update slab_update = Update::exact;
  FactoredOptions factored;         ///< read if inference.method is factored
  DictionaryOptions dictionary;     ///< read by methods that learn a dictionary
  BetaProcessOptions beta_process;  ///< read if inference.method is beta_process or beta_variational
  int iterations = 100;
  /// Stepwise EM: an M-step after every so many data points, in shuffled order, on sums that forget slowly. An
  /// iteration is still a pass over the data. 0: full EM, an M-step after each pass.
  Index batch = 0;
  int polish = 3;           ///< with batch: the last so many iterations are full EM, so that the free energy is exact
  double tolerance = 1e-6;  ///< stop when the free energy changes by less than this part of itself; 0: never
  std::uint64_t seed = 1;
  /// How the columns of the data lie: neighbours for a gp prior (channels are independent of each other), and pictures
  /// in the page. rows 0: a square if there is one, else a time series.
  Shape shape;
  SharingOptions sharing;  ///< among the processes of a team, all of which call fit()

  /// Throws UsageError naming the first field with an impossible value.
  void validate() const;
};

/// One row of the history. Row 0 describes the starting parameters, row t those after t M-steps.
struct IterationReport {
  int iteration = 0;
  /// Sum over data points, natural log. Of methods without a free energy what they have in its place, which is called
  /// objective_name() wherever it is shown or stored.
  double free_energy = 0;
  double noise_std = 0;      ///< square root of the mean noise variance
  double mean_active = 0;    ///< mean number of active latents per data point
  Index latents_in_use = 0;  ///< latents with at least one expected activation in the whole data
  double seconds = 0;        ///< since the previous row
  bool dip = false;          ///< the free energy fell (by more than rounding), or what is minimised rose
  /// The free energy is an estimate: each batch's under the parameters of its time, or that of the first batch alone.
  bool estimated = false;
  std::int64_t rescues = 0;  ///< Rescues::total() of this iteration
};

/// What a method carries from iteration to iteration beside the parameters, each thing under a name that the method
/// knows (docs/methods.md). What is not there has its starting value.
struct GSC_EXPORT MethodState {
  std::map<std::string, double> numbers;
  std::map<std::string, Matrix> arrays;
  std::map<std::string, Matrix> columns;  ///< with a column per data point, as large as the data
  double number(const std::string& name, double otherwise) const;
  Matrix array(const std::string& name) const;  ///< empty if it is not there; the same for columns
  Matrix column(const std::string& name) const;
};

/// All that is needed to go on learning: a checkpoint holds this.
struct FitState {
  Model model;  ///< the parameters that the last row of the history describes
  std::vector<IterationReport> history;
  Rescues rescues;
  MethodState method;  ///< up to date in the result of fit(), and where Watcher::needs_method_state()
};

enum class StopReason { iterations, converged, interrupted };

struct FitResult {
  FitState state;
  StopReason reason = StopReason::iterations;
  double seconds = 0;
  SharingReport sharing = {};
  const Model& model() const { return state.model; }
  const IterationReport& last() const { return state.history.back(); }
};

/// Learns a model. `start`: parameters to start from instead of options.init. In a team all ranks get the same model,
/// what a method keeps of each data point only the root.
GSC_EXPORT FitResult fit(const Data& data, const FitOptions& options, Watcher* watcher = nullptr,
                         std::optional<Model> start = {});

/// Goes on from a checkpoint: the same bits as if the earlier run had not been stopped.
GSC_EXPORT FitResult resume(const Data& data, const FitOptions& options, FitState state, Watcher* watcher = nullptr);

GSC_EXPORT std::string_view to_string(Update update);
GSC_EXPORT std::string_view to_string(BasisPrior prior);
GSC_EXPORT std::string_view to_string(SweepOrder order);
GSC_EXPORT std::string_view to_string(UsagePrior prior);
GSC_EXPORT std::string_view to_string(StopReason reason);

}  // namespace gsc
