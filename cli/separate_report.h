#pragma once
// What gsc separate says about its result.

#include <gsc/separate.h>

#include <optional>
#include <string>
#include <vector>

#include "channels.h"
#include "options.h"
#include "tasks/source_matching.h"

namespace gsc::cli {

/// What is known in an experiment.
struct Truth {
  Matrix sources, mixing;
};

/// How near the truth is, where it is known.
struct Score {
  std::optional<double> amari;  ///< none unless the learned mixing matrix is square and regular
  std::vector<SourceMatch> matches;
};
Score score_of(const Truth& truth, const Separation& separation);

std::string separate_summary(const Separation& separation, double samples);
std::string score_text(const Score& score);

/// The fields of docs/cli.md, those of fit included.
Json separate_metrics(const Settings& settings, const Channels& channels, const Separation& separation,
                      const std::optional<Score>& score);

/// The page: learning, the traces of the sources, the mixing matrix.
void write_separation_report(const std::string& path, const Settings& settings, const Separation& separation,
                             const std::optional<Score>& score);

}  // namespace gsc::cli
