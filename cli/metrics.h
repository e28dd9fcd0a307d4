#pragma once
// Figures about a run as one JSON object (--metrics). The fields are described in docs/cli.md.

#include <gsc/data.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "options/options.h"

namespace gsc::cli {

/// What all metrics begin with.
Json metrics_header(const char* command, const Settings& settings, const Data& data);

/// Adds what chains of draws say of themselves, if the method has any.
void add_chains(Json& json, const MethodState& state);
Json rescues_json(const Rescues& rescues);
Json sharing_json(const SharingOptions& options, const SharingReport& report);

Json fit_metrics(const Settings& settings, const Data& data, const FitResult& result);

/// What infer adds up over the data.
struct InferenceTotals {
  std::optional<double> free_energy;  ///< none of a point estimate
  Vector activations;                 ///< H, expected number of data points in which each latent is active
  std::int64_t clamped_pivots = 0;    ///< data points with a numerically singular state
  double seconds = 0;
};
Json infer_metrics(const Settings& settings, const Data& data, const Model& model, const InferenceTotals& totals);

/// Replaces the file in one step; "-" prints to standard output, an empty path does nothing.
void write_metrics(const std::string& path, const Json& metrics);

}  // namespace gsc::cli
