#pragma once
// What gsc separate says about its result.

#include <gsc/separate.h>

#include <gsc/scores.h>

#include <optional>
#include <string>
#include <vector>

#include "channels.h"
#include "options/options.h"

namespace gsc::cli {

std::string separate_summary(const Separation& separation, double samples);
std::string score_text(const SeparationScore& score);

/// The fields of docs/cli.md, those of fit included.
Json separate_metrics(const Settings& settings, const Channels& channels, const Separation& separation,
                      const std::optional<SeparationScore>& score);

/// The page: learning, the traces of the sources, the mixing matrix.
void write_separation_report(const std::string& path, const Settings& settings, const Channels& channels,
                             const Separation& separation, const std::optional<SeparationScore>& score);

}  // namespace gsc::cli
