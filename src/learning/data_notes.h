#pragma once
// What a user should know of the data before anything is learned from it.

#include <gsc/fit.h>

namespace gsc {

/// Tells the watcher of a level that no latent should have to explain, and of columns with few values or none.
void note_data(const DataSummary& summary, const FitOptions& options, Watcher& watcher);

}  // namespace gsc
