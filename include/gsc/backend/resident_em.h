#pragma once
// E- and M-steps, wherever they are made: learning speaks to this alone (docs/backends.md). An engine on a device may
// have its own (Engine::resident), so that neither sums nor parameters need to travel from iteration to iteration: only
// the numbers of a row do.
//
//   em.start(model);   em.e_step({});
//   each iteration:   em.m_step({});   em.e_step({});
//   in batches:       em.e_step({.rows = batch});   em.blend(...);   em.m_step({.of_running = true});

#include <gsc/backend/engine.h>
#include <gsc/export.h>
#include <gsc/fit.h>

namespace gsc {

/// What comes back from an E-step.
struct ResidentRow {
  double count = 0, free_energy = 0;
  double noise_variance = 0;  ///< Noise::mean_variance() of the parameters
  Vector s;                   ///< sum <s>
  bool long_steps = false;    ///< the M-step from these sums may be longer than EM's (ResidentStep::gap_acceleration)
  Rescues rescues;            ///< of this E-step, and of the M-steps since the one before
};

struct ResidentStep {
  bool of_running = false;                             ///< from the running sums instead of those of the last E-step
  double known_variance = 0;                           ///< of scalar noise, in place of what is found; 0: none
  double slab_acceleration = 1, gap_acceleration = 1;  ///< as MStepOptions has them
};

class GSC_EXPORT ResidentEm {
 public:
  virtual ~ResidentEm() = default;
  /// Parameters to go on from.
  virtual void start(const Model& model) = 0;
  virtual Model model() = 0;

  /// Gathers the sums over these data points under the parameters as they stand. Asks pass.stop; where that
  /// ends it, take_back() is next.
  virtual ResidentRow e_step(const Pass& pass) = 0;
  /// As gsc::m_step(), with the options that Engine::resident() was given. Running sums move along with the intercept.
  virtual void m_step(const ResidentStep& step) = 0;
  /// Back to the parameters before the last m_step(), and the sums that it was from if they were those of all data and
  /// the step may be longer than EM's.
  virtual void take_back() = 0;
  /// Of the M-steps since the last E-step, which then counts them no more.
  virtual Rescues rescues() = 0;

  /// running = keep running + weight (sums of the last E-step). Where nothing is running yet, it becomes those first.
  virtual void blend(double keep, double weight) = 0;
  virtual Statistics running() = 0;
  virtual void set_running(const Statistics& running) = 0;  ///< of count 0: nothing is running
  /// Whether sums and M-steps are the processor's.
  virtual bool on_host() const { return false; }
};

}  // namespace gsc
