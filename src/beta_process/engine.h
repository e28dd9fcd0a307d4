#pragma once
// Posteriors by Gibbs sampling of the codes, with the parameters of a model (code_sampler.h). A chain of its own for
// every data point, from all latents off; as many sweeps are thrown away as are averaged. What is averaged are means
// given which latents are on. The random numbers follow from the row of the data point alone.

#include <gsc/backend/engine.h>
#include <gsc/missing.h>

#include "beta_process/code_sampler.h"
#include "inference/cached_by_model.h"

namespace gsc {

class BetaProcessEngine final : public Engine {
 public:
  BetaProcessEngine(const Data& data, const InferenceOptions& options) : data_(data), options_(options) {}
  /// There is none: throws UsageError.
  Statistics e_step(const Model& model, const Pass& pass) override;
  /// Without a likelihood, which draws do not give.
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override;

 private:
  const Data& data_;
  const InferenceOptions options_;
  CachedByModel<CodeModel> prepared_;
};

/// impute(), from means and variances of drawn codes; the covariances between latents are left out.
Imputed impute_by_draws(const Model& model, const Data& data, const InferenceOptions& options,
                        const ImputeOptions& what, Index first, Index count, const StopRequest& stop);

}  // namespace gsc
