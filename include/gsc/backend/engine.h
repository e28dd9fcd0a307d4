#pragma once
// Where E-steps and posteriors are computed. Learning, denoising and separation speak to this alone, so another device,
// or another way to go over the states, is a class that implements it (docs/backends.md).

#include <gsc/backend/pass.h>
#include <gsc/export.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace gsc {

class ResidentEm;
struct MStepOptions;
class PatchMosaic;
struct PatchWeighting;
class PatchDevice;

/// Computes on one set of data, with one choice of options. It keeps what need not be made anew for the next call: work
/// space, what it derived from the last model, a copy of the data on a device. Called from one thread at a time.
class GSC_EXPORT Engine {
 public:
  virtual ~Engine() = default;
  /// Told before anything else how often the data is expected to be gone over, which is by what `auto` chooses.
  virtual void expect(double passes) { (void)passes; }
  /// The sums over the data points. Of no data points: zeros in the shapes that the model and the options give.
  virtual Statistics e_step(const Model& model, const Pass& pass) = 0;
  /// The posterior of rows first .. first+count-1, which exist.
  virtual Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                          const StopRequest& stop) = 0;
  /// Whether it has the next one, for this method.
  virtual bool has_sparse() const { return false; }
  /// The same on the candidates alone; with `own` unless null, each data point under its own prior.
  /// An engine that does not have this leaves it as it is: it throws UsageError.
  virtual SparsePosterior infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                                       const StopRequest& stop);
  /// Learning where the data lies (gsc/backend/resident_em.h), if the engine, which must outlive it, has that for such
  /// models and M-steps; else null.
  virtual std::unique_ptr<ResidentEm> resident(const Model& model, const MStepOptions& options);
  /// Patches that it puts back into their picture by itself, none yet (inference/patch_mosaic.h); null: it cannot. It is
  /// the engine's, the last is gone then, and the model must stay.
  virtual PatchMosaic* mosaic(const Model& model, const PatchWeighting& weighting);
  /// Its work on the patches of any picture (inference/patch_device.h), which is the engine's; null: the processor does
  /// that.
  virtual PatchDevice* patches() { return nullptr; }
  /// Whether it computes elsewhere than on the processor, so that what it leaves to that is worth a word.
  virtual bool on_device() const { return false; }
};

/// An engine for this data, which must outlive it, on options.device. Throws UsageError, naming the devices there are,
/// if that is not one of them.
GSC_EXPORT std::unique_ptr<Engine> make_engine(const Data& data, const InferenceOptions& options);

using EngineMaker = std::function<std::unique_ptr<Engine>(const Data& data, const InferenceOptions& options)>;
/// From now on options.device may be `device`. A maker throws UsageError for options that its engine does not have.
GSC_EXPORT void add_engine(const std::string& device, EngineMaker maker);

}  // namespace gsc
