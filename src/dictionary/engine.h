#pragma once
// Methods that learn a dictionary, as an engine: their codes take the place of posterior means.

#include <gsc/backend/engine.h>

namespace gsc {

class DictionaryEngine final : public Engine {
 public:
  DictionaryEngine(const Data& data, const InferenceOptions& options) : data_(data), options_(options) {}
  /// There is none: throws UsageError.
  Statistics e_step(const Model& model, const Pass& pass) override;
  Posterior infer(const Model& model, const PosteriorRequest& request, Index first, Index count,
                  const StopRequest& stop) override;

 private:
  const Data& data_;
  const InferenceOptions options_;
};

}  // namespace gsc
