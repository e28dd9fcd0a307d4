#pragma once
// A way to learn: one file per method implements this. fit() keeps what all have in common: starts, the history, when
// to stop, watchers, checkpoints.

#include <gsc/backend/resident_em.h>
#include <gsc/fit.h>

#include <memory>
#include <optional>
#include <vector>

#include "distributed/share.h"

namespace gsc {

/// What a model is worth on the data.
struct Evaluation {
  double free_energy = 0;
  double mean_active = 0;
  Index latents_in_use = 0;
  Rescues rescues;
  bool estimated = false;  ///< the free energy is, as IterationReport::estimated
  /// Noise::mean_variance() of the model, where that is known without asking for the model.
  std::optional<double> noise_variance = {};
};

/// All methods are collective over the ranks of the share.
class Learner {
 public:
  virtual ~Learner() = default;
  /// As the last row describes it. It may have to be brought from a device first.
  virtual Model model() const = 0;
  /// Judges the model as it stands. `row`: of the history, 0 for the start; else the row at which learning goes on.
  virtual Evaluation begin(int row) = 0;
  /// Better parameters, judged, for row `row`. If it throws Interrupted, the model is still that of the row before.
  virtual Evaluation iterate(int row) = 0;
  /// Whether the history says that more iterations would bring nothing: its last two rows, unless they are estimates,
  /// differ by less than this part of the free energy. 0: never.
  virtual bool converged(const std::vector<IterationReport>& history, double tolerance) const;
  /// What the user should know of how it computes; empty: nothing.
  virtual std::string note() const { return {}; }
  /// Brings state.method to the last row, on the root.
  virtual void save(MethodState& state) const = 0;
};

/// Where learning begins.
struct Beginning {
  Model model;
  std::optional<MethodState> saved;     ///< to go on from; none: this is a start
  std::optional<double> data_variance;  ///< for a model drawn at random, which knows nothing of the data's scale
};

/// The learner that the options ask for. Share and options must outlive it.
std::unique_ptr<Learner> make_learner(Share& share, const FitOptions& options, Beginning beginning, StopRequest stop);

/// Throws UsageError for options that the method does not have.
void check_method(const FitOptions& options);

/// From the sums of an E-step.
Evaluation evaluation(const Statistics& statistics, const Rescues& rescues);
Evaluation evaluation(const ResidentRow& row);

}  // namespace gsc
