#pragma once
// What the values that methods tell are worth: of their objectives, and of the noise level.

#include <gsc/inference.h>

namespace gsc {
#pragma GCC visibility push(default)  // for the libraries that build on this one

/// Whether codes hang on lambda and not on the noise level: those of a lasso do.
bool codes_by_lambda(const InferenceOptions& options);
/// Whether the objective is a mean over the data points, and not a sum.
bool mean_objective(Method method);

#pragma GCC visibility pop
}  // namespace gsc
