#pragma once
// gsc separate: which method, and which options go with it.

#include <gsc/separate.h>

#include <string>

#include "options/command_line.h"

namespace gsc::cli {

/// The words of --method: those that learn the model, and fastica.
std::string separate_methods(std::string_view separator);

/// Throws UsageError for a word that is no method, and for options of FastICA and of starts that it does not have.
void check_method_options(const CommandLine& line, const SeparateSettings& asked);

/// Sets method, start, truncation and FastICA's own options as asked, and `settings` to what will be used: what was
/// left out is chosen. Returns what the user should know.
std::string set_method(Settings& settings, Index channels, SeparateOptions& options);

/// "fastica (symmetric, tanh)"
std::string fastica_text(const FasticaOptions& options);

/// Whether a model was learned; FastICA has none.
inline bool has_model(const Separation& separation) { return !separation.fit.state.history.empty(); }

/// The options that the method has, as options_json().
Json separate_options_json(const Settings& settings);

}  // namespace gsc::cli
