#pragma once
// Which data points have the same candidates: those with the same key may share a tree (--partition).

#include <gsc/inference.h>

#include <cstdint>
#include <vector>

namespace gsc {

/// A hash of each data point's candidates. Nothing but the selection is computed, where nothing is missing.
std::vector<std::uint64_t> candidate_keys(const Model& model, const Data& data, const InferenceOptions& options,
                                          const StopRequest& stop);

}  // namespace gsc
