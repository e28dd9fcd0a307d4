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

/// Gives the channels zero mean and the identity as covariance; returns what undoes it but for the mean. With fewer
/// than as many `directions` only the strongest are kept. Throws Error if channels follow from others, unless those
/// directions are to be dropped. `name` is what the error calls the mixture.
struct Whitened {
  Matrix undo;        ///< channels x directions
  Index dropped = 0;  ///< directions in which the channels follow from each other
};
Whitened whiten(Matrix& mixture, const std::string& name, Index directions, bool drop_dependent);

/// Notes about pairs of sources (rows) that are nearly the same, up to sign.
std::vector<std::string> duplicates_of(const Matrix& sources);
/// A note if fewer than a third of the starts came near the best.
std::vector<std::string> note_of_starts(const std::vector<double>& free_energies, double samples);

}  // namespace gsc
