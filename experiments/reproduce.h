#pragma once
// Runs an experiment and writes what came out.

#include "trials.h"

namespace gsc::experiments {

/// Throws UsageError naming those there are, if there is none of this name.
const Experiment& find_experiment(const std::string& name);

/// The first file that the experiment needs and that is not there; empty if it can be run.
std::string missing_file(const Experiment& experiment, const Request& request);

/// What the trials are about: the files, what stands in for them in the quick version, or that data is generated.
std::string data_text(const Experiment& experiment, const Request& request);

/// Why the quick version says nothing about a claim; empty if it does.
std::string not_comparable(const Claim& claim, const Request& request);
/// The claim with "yes", "NO" or "-" before it, and behind it why it cannot be told.
std::string claim_text(const Claim& claim, const Request& request);

struct Outcome {
  Summary summary;
  int trials = 0;
  double seconds = 0;  ///< of all trials together, also those of earlier runs
};

/// Writes FOLDER/NAME.json (every number with its settings), FOLDER/NAME.html, and on the way FOLDER/NAME.trials. In a
/// team only the root writes and has an outcome.
Outcome reproduce(const Experiment& experiment, const Request& request, const std::filesystem::path& folder,
                  const TrialsObserver& observer = {});

}  // namespace gsc::experiments
