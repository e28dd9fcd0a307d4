#pragma once
// Parts of separate() that the program needs one by one.

#include <gsc/separate.h>

#include <string>

namespace gsc {

/// The options of a single start for a mixture of so many channels: what was left open (latents, method) is chosen.
/// Throws UsageError naming the first field with an impossible value.
FitOptions resolved(const SeparateOptions& options, Index channels);

/// Throws Error for a mixture (channels x samples) that cannot be separated. `name` is what the error calls it, `first`
/// the number of its first sample.
void check_mixture(const Matrix& mixture, const std::string& name, Index first = 0);

/// Gives the channels zero mean and the identity as covariance; returns C^1/2, which undoes it but for the mean. Throws
/// Error if channels follow from others. `name` is what the error calls the mixture.
Matrix whiten(Matrix& mixture, const std::string& name);

}  // namespace gsc
