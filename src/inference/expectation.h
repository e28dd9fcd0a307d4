#pragma once
// What e_step() does, and a little more.

#include <gsc/inference.h>

#include <cstdint>

namespace gsc {

/// Zero, with the shapes that these options give.
Statistics empty_statistics(const Model& model, const InferenceOptions& options);

/// As e_step(), truncated or exact. `keys`: leaves a hash of each data point's candidates there, unless null.
Statistics gather_statistics(const Model& model, const Data& data, const InferenceOptions& options,
                             const StopRequest& stop, std::uint64_t* keys);

}  // namespace gsc
