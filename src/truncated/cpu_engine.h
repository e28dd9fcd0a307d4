#pragma once
// The truncated and the exact method on this machine's cores. infer_sparse() is in own_priors/own_prior_posterior.cpp.

#include <gsc/backend/engine.h>
#include <gsc/missing.h>

#include "inference/cached_by_model.h"
#include "truncated/block_inference.h"
#include "truncated/thread_sums.h"

namespace gsc {

class CpuEngine final : public Engine {
 public:
  CpuEngine(const Data& data, const InferenceOptions& options) : data_(data), options_(options) {}
  Statistics e_step(const Model& model, const Pass& pass) override;
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override;
  bool has_sparse() const override { return traits(options_.method).has_candidates; }
  SparsePosterior infer_sparse(const Model& model, Index first, Index count, const OwnPriors* own,
                               const StopRequest& stop) override;

 private:
  const PreparedModel& prepared(const Model& model);
  /// Before threads ask for their buffers.
  void reserve(int threads);
  /// The buffers of a thread, with room for so many rows.
  BlockInference& buffers(const PreparedModel& prepared, int thread, Index block_rows);
  /// The sums of a thread, all zero.
  ThreadSums& cleared_sums(const Model& model, const PreparedModel& prepared, int thread);
  /// Sums that take much memory, or are those of one thread, are not kept for the next E-step.
  void forget_sums();

  const Data& data_;
  const InferenceOptions options_;
  CachedByModel<PreparedModel> prepared_;
  std::vector<std::unique_ptr<BlockInference>> buffers_;  // a thread makes and uses its own
  std::vector<std::unique_ptr<ThreadSums>> sums_;         // as well; memory that is new takes longer than adding to it
};

/// impute(), with deviations as they follow from the posterior.
Imputed impute_on_candidates(const Model& model, const Data& data, const InferenceOptions& options,
                             const ImputeOptions& what, Index first, Index count, const StopRequest& stop);

}  // namespace gsc
