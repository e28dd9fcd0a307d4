#pragma once
// The page about a model and how it was learned: gsc fit --report, gsc report, and part of gsc separate's.

#include <gsc/files.h>
#include <gsc/report.h>

#include <optional>
#include <string>

#include "options/options.h"

namespace gsc::cli {

/// The basis functions. Without a shape (rows 0): square pictures where the dimensions allow, else traces.
void add_basis(Report& report, const Model& model, const Shape& shape);

/// Learning curves and basis functions; those of a recording as time courses, unless there is a shape.
void add_model(Report& report, const FitState& state, const Shape& shape,
               const std::optional<Recording>& recording = {}, Method method = kUsualMethod);

/// The options a model was learned with, as options_json(), but for --restarts, which is none of a model. It was
/// learned.
Json file_options_json(const ModelFile& file);

/// The options of a command as a table of facts.
void add_options(Report& report, const Json& options);

/// Without `show_basis` (rows 0) basis functions are drawn as time courses of windows, else as the shape of the data.
/// `free_energies`: of the starts, if there were several; the first had the seed `first_seed`.
void write_learning_report(const std::string& path, const std::string& title, const ModelFile& file,
                           const Shape& show_basis, const std::vector<double>& free_energies = {},
                           std::uint64_t first_seed = 0);

}  // namespace gsc::cli
