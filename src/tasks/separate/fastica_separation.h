#pragma once
// FastICA on a mixture: the sources themselves, or a start for learning the model.

#include <gsc/separate.h>

namespace gsc {

/// separate() with method fastica. Throws UsageError if there are more latents than channels, or the start does not
/// fit.
Separation separate_by_fastica(const Matrix& mixture, const SeparateOptions& options, Watcher* watcher);

/// A start for learning from `channels` (channels x samples) what FastICA finds in them, or nothing where it finds
/// fewer than `latents` sources. `run` says how that ended.
std::optional<Model> fastica_start(const Matrix& channels, const FitOptions& single, const FasticaOptions& options,
                                   Watcher* watcher, std::optional<FasticaRun>& run);

/// The model of x = W y with these sources y (zero mean, unit variance) and little noise: a source with heavy tails is
/// a spike at 0 and a wide slab around it; one with light tails a spike on one side and a slab on the other.
Model model_of_sources(const Matrix& W, const Matrix& sources);

}  // namespace gsc
