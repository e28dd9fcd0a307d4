#include "metrics.h"

#include <fmt/format.h>
#include <gsc/arrays.h>
#include <gsc/inference.h>
#include <gsc/rescues.h>
#include <gsc/version.h>

#include <cmath>
#include <cstdio>

#include "program_team.h"

namespace gsc::cli {

Json metrics_header(const char* command, const Settings& settings, const Data& data) {
  Json json;
  json["command"] = command;
  json["version"] = GSC_VERSION;
  json["data"] = data.name();
  json["data_points"] = data.rows();
  json["dimensions"] = data.cols();
  json["processes"] = team().size();
  json["threads"] = thread_count(settings.fit.inference.threads);
  json["device"] = settings.fit.inference.device.name;
  return json;
}

void add_chains(Json& json, const MethodState& state) {
  for (const char* name : {"noise_std_deviation", "r_hat_noise_std", "r_hat_log_joint"})
    if (const auto found = state.numbers.find(name); found != state.numbers.end()) json[name] = found->second;
}

Json rescues_json(const Rescues& rescues) {
  Json json;
  for_each_rescue([&](auto member, const char* name, auto) { json[name] = rescues.*member; });
  return json;
}

Json sharing_json(const SharingOptions& options, const SharingReport& report) {
  return {{"partition", std::string(to_string(options.partition))},
          {"seconds_waiting", report.seconds_waiting},
          {"seconds_summing", report.seconds_summing},
          {"seconds_clustering", report.seconds_clustering},
          {"seconds_moving", report.seconds_moving},
          {"rows_moved", report.rows_moved},
          {"rows_sent_to_other_nodes", report.rows_sent},
          {"clusters", report.clusters},
          {"rows_in_clusters", report.rows_in_clusters}};
}

Json fit_metrics(const Settings& settings, const Data& data, const FitResult& result) {
  const std::vector<IterationReport>& history = result.state.history;
  Json trace = Json::array(), dips = Json::array();
  double iteration_seconds = 0;
  for (const IterationReport& row : history) {
    trace.push_back(row.free_energy);
    if (row.iteration > 0) iteration_seconds += row.seconds;
    if (row.dip) dips.push_back(row.iteration);
  }
  Json json = metrics_header("fit", settings, data);
  json["seed"] = settings.fit.seed;
  json["latents"] = result.model().latents();
  json["iterations"] = result.last().iteration;
  json["stop_reason"] = std::string(to_string(result.reason));
  json["seconds"] = result.seconds;
  json["seconds_per_iteration"] =
      result.last().iteration > 0 ? Json(iteration_seconds / result.last().iteration) : Json();
  const std::string objective(objective_name(settings.fit.inference.method));
  json[objective] = result.last().free_energy;
  json[objective + "_per_point"] =
      result.last().free_energy /
      (traits(settings.fit.inference.method).objective.mean ? 1.0 : static_cast<double>(data.rows()));
  json[objective + "_estimated"] = result.last().estimated;
  json["noise_std"] = result.last().noise_std;
  add_chains(json, result.state.method);
  json["mean_active"] = result.last().mean_active;
  json["latents_in_use"] = result.last().latents_in_use;
  json["rescues"] = rescues_json(result.state.rescues);
  json["sharing"] = sharing_json(settings.fit.sharing, result.sharing);
  json["dips"] = dips;
  json["options"] = options_json(kFit, settings);
  json[objective + "_trace"] = trace;
  return json;
}

Json infer_metrics(const Settings& settings, const Data& data, const Model& model, const InferenceTotals& totals) {
  const auto count = static_cast<double>(data.rows());
  Json json = metrics_header("infer", settings, data);
  json["seed"] = nullptr;
  json["latents"] = model.latents();
  json["iterations"] = 0;
  json["seconds"] = totals.seconds;
  json["seconds_per_iteration"] = nullptr;
  if (totals.free_energy) {
    json["free_energy"] = *totals.free_energy;
    json["free_energy_per_point"] = *totals.free_energy / count;
  }
  json["noise_std"] = std::sqrt(model.noise.mean_variance());
  json["mean_active"] = totals.activations.sum() / count;
  json["clamped_pivots"] = totals.clamped_pivots;
  json["latents_in_use"] = (totals.activations.array() >= 1).count();
  json["options"] = options_json(kInfer, settings);
  if (totals.free_energy) json["free_energy_trace"] = Json::array({*totals.free_energy});
  return json;
}

void write_metrics(const std::string& path, const Json& metrics) {
  if (path.empty()) return;
  const std::string text = metrics.dump(2) + "\n";
  if (path == "-")
    fmt::print("{}", text);
  else
    write_file(path, text);
}

}  // namespace gsc::cli
