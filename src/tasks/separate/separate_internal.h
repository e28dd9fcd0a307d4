#pragma once
// Parts of separate() that the program needs one by one.

#include <gsc/separate.h>

#include <string>

namespace gsc {

/// What the model of a separation says it was learned with: its seed, and the types that it has for the channels as
/// they came. A whitened model has full noise, for which the factored method has no posterior: another is chosen.
FitOptions options_of_model(const FitOptions& single, const Separation& separation);

/// Notes about pairs of sources (rows) that are nearly the same, up to sign.
std::vector<std::string> duplicates_of(const Matrix& sources);
/// A note if fewer than a third of the starts came near the best.
std::vector<std::string> note_of_starts(const std::vector<double>& free_energies, double samples);

}  // namespace gsc
