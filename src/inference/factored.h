#pragma once
// The factored method behind e_step() and infer().

#include <gsc/inference.h>

namespace gsc {

Statistics factored_expectation(const Model& model, const Data& data, const InferenceOptions& options,
                                const StopRequest& stop);

/// Rows first .. first+count-1, which must exist.
Posterior infer_factored(const Model& model, const Data& data, const InferenceOptions& options,
                         const PosteriorRequest& request, Index first, Index count, const StopRequest& stop);

}  // namespace gsc
