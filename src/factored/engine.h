#pragma once
// The factored method on this machine's cores.

#include <gsc/backend/engine.h>
#include <gsc/missing.h>

#include "factored/block.h"
#include "inference/cached_by_model.h"

namespace gsc {

class FactoredEngine final : public Engine {
 public:
  FactoredEngine(const Data& data, const InferenceOptions& options) : data_(data), options_(options) {}
  /// Sweeps from all zero until nothing moves.
  Statistics e_step(const Model& model, const Pass& pass) override;
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override;

  /// One sweep; see factored_step().
  Statistics sweep(const Model& model, const std::vector<Index>& order, const Matrix& codes, Matrix& next);
  /// The same with constants of one's own in place of those that follow from the model.
  Statistics sweep(const Model& model, const FactoredModel& factored, const Matrix& codes, Matrix& next);

 private:
  bool with_gaps() const;
  /// With the latents in the order of the model.
  const FactoredModel& prepared(const Model& model);
  Statistics gather(const Model& model, const FactoredModel& factored, const Data& data, const Matrix& codes,
                    Matrix* next, const StopRequest& stop) const;

  const Data& data_;
  const InferenceOptions options_;
  CachedByModel<FactoredModel> prepared_;
};

/// The factored method's step in learning: one sweep over the latents of every data point, in this order (a permutation
/// of 0..H-1; every latent is updated once, given the others). Starts from the posterior means <s.z> in `codes` (H x N;
/// empty: all zero) and leaves the new ones in `next`. Given the model the free energy, here the bound of the factored
/// posterior without the divergence of W, never falls from sweep to sweep.
Statistics factored_step(const Model& model, const Data& data, const InferenceOptions& options,
                         const std::vector<Index>& order, const Matrix& codes, Matrix& next);

/// impute() by the factored method. Latents and, where they have a posterior, entries of W are independent, so
///
///   mean_d = b_d + m_d' x       variance_d = sum_h ((m_dh^2 + V_dh) <(s_h z_h)^2> - m_dh^2 x_h^2) + sigma_d^2
///
/// the last where d is missing.
Imputed impute_factored(const Model& model, const Data& data, const InferenceOptions& options,
                        const ImputeOptions& what, Index first, Index count, const StopRequest& stop);

}  // namespace gsc
