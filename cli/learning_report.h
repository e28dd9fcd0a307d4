#pragma once
// The page about a model and how it was learned: gsc fit --report, gsc report, and part of gsc separate's.

#include <gsc/files.h>
#include <gsc/report.h>

#include <string>

#include "options.h"

namespace gsc::cli {

/// The basis functions. `shape` is "8x8", or empty: square pictures where the dimensions allow, else traces.
void add_basis(Report& report, const Model& model, const std::string& shape);

/// Learning curves and basis functions.
void add_model(Report& report, const FitState& state, const std::string& shape);

/// The options of a command as a table of facts.
void add_options(Report& report, const Json& options);

void write_learning_report(const std::string& path, const std::string& title, const ModelFile& file,
                           const std::string& shape);

}  // namespace gsc::cli
