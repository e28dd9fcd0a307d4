#pragma once
// The posterior of all rows, a chunk at a time, for those who want to know how far it is.

#include <gsc/inference.h>

#include <functional>

namespace gsc {
#pragma GCC visibility push(default)  // for the libraries that build on this one

/// As infer() of all rows; calls done(rows until here) after each chunk.
Posterior infer_in_chunks(const Model& model, const Data& data, const InferenceOptions& options,
                          const PosteriorRequest& request, const std::function<void(Index)>& done = {},
                          const StopRequest& stop = {});

#pragma GCC visibility pop
}  // namespace gsc
