#pragma once
// Parts of separate() that the program needs one by one.

#include <gsc/separate.h>

#include <string>

namespace gsc {

/// The options of a single start for a mixture of so many channels: what was left open (latents, method) is chosen.
/// Throws UsageError naming the first field with an impossible value.
FitOptions resolved(const SeparateOptions& options, Index channels);

/// Gives every row zero mean and unit variance. `row_name` is what errors call a row ("channel").
void normalise_rows(Matrix& rows, const std::string& row_name);

}  // namespace gsc
