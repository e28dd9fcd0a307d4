#include "reproduce.h"

#include <gsc/version.h>
#include <cmath>
#include <numeric>

#include "io/atomic_file.h"
#include "json_lines.h"

namespace gsc::embedded {
std::string_view published_json();
}

namespace gsc::experiments {
namespace fs = std::filesystem;

const std::vector<std::unique_ptr<Experiment>>& all_experiments() {
  static const std::vector<std::unique_ptr<Experiment>> all = [] {
    std::vector<std::unique_ptr<Experiment>> list;
    for (const auto make :
         {posteriors, posterior_mass, selection, consistency, directions, separation, separation_noisy, table1, cost,
          house, table2, truncation, scaling, repartitioning, inpainting})
      list.push_back(make());
    return list;
  }();
  return all;
}

const Json& published(const std::string& experiment) {
  static const Json all = Json::parse(embedded::published_json());
  static const Json none = Json::object();
  return all.contains(experiment) ? all[experiment] : none;
}

const Experiment& find_experiment(const std::string& name) {
  std::string names;
  for (const auto& experiment : all_experiments()) {
    if (experiment->name() == name) return *experiment;
    names += (names.empty() ? "" : ", ") + experiment->name();
  }
  throw UsageError("there is no experiment '" + name + "'; choose one of " + names + ", or all");
}

std::string missing_file(const Experiment& experiment, const Request& request) {
  if (request.quick) return "";
  for (const std::string& file : experiment.files()) {
    std::error_code error;
    if (request.data.empty() || !fs::exists(request.data / file, error)) return file;
  }
  return "";
}

std::string data_text(const Experiment& experiment, const Request& request) {
  const std::vector<std::string> files = experiment.files();
  if (files.empty()) return "generated data";
  std::string text;
  for (const std::string& file : files) text += (text.empty() ? "" : ", ") + file;
  return request.quick ? "artificial data in place of " + text + ", so that no published value applies" : text;
}

std::string not_comparable(const Claim& claim, const Request& request) {
  if (request.quick && claim.in_quick == InQuick::needs_data) return "not comparable: artificial data";
  if (request.quick && claim.in_quick == InQuick::needs_sizes) return "not comparable: smaller sizes and fewer trials";
  return "";
}

std::string claim_text(const Claim& claim, const Request& request) {
  const std::string why = not_comparable(claim, request);
  if (!why.empty()) return "-    " + claim.text + " (" + why + ")";
  return (claim.holds ? "yes  " : "NO   ") + claim.text;
}

Outcome reproduce(const Experiment& experiment, const Request& request, const fs::path& folder,
                  const TrialsObserver& observer) {
  // Quick trials are of other sizes and are kept apart.
  const std::string stem = experiment.name() + (request.quick ? ".quick" : "");
  const std::vector<Finished> trials = run_trials(experiment, request, folder / (stem + ".trials"), observer);
  if (!request.team->root()) return {};
  Report report(experiment.title(), experiment.place() + (request.quick ? ", quick version" : ""));
  Outcome outcome;
  outcome.summary = experiment.summarise(trials, request, report);
  outcome.trials = static_cast<int>(trials.size());
  outcome.seconds = std::accumulate(trials.begin(), trials.end(), 0.0,
                                    [](double sum, const Finished& trial) { return sum + trial.seconds; });

  const std::string data = data_text(experiment, request);
  Json json{{"experiment", experiment.name()},
            {"place", experiment.place()},
            {"version", GSC_VERSION},
            {"quick", request.quick},
            {"data", data},
            {"seed", request.seed},
            {"trials", outcome.trials},
            {"seconds", outcome.seconds},
            {"claims", Json::array()},
            {"figures", outcome.summary.figures},
            {"published", request.quick && !experiment.files().empty() ? Json() : published(experiment.name())},
            {"runs", Json::array()}};
  std::vector<std::vector<std::string>> rows;
  for (const Claim& claim : outcome.summary.claims) {
    const std::string why = not_comparable(claim, request);
    json["claims"].push_back({{"text", claim.text}, {"holds", why.empty() ? Json(claim.holds) : Json()}});
    if (!why.empty()) json["claims"].back()["why"] = why;
    rows.push_back({claim.text, !why.empty() ? why : claim.holds ? "yes" : "no"});
  }
  for (const Finished& trial : trials)
    json["runs"].push_back({{"settings", trial.settings}, {"result", trial.result}, {"seconds", trial.seconds}});
  if (!rows.empty()) {
    report.add_heading("What it shows");
    report.add_table({"claim", "here"}, rows);
  }
  report.add_facts("Run", {{"experiment", experiment.name()},
                           {"version", GSC_VERSION},
                           {"data", data},
                           {"trials", std::to_string(outcome.trials)},
                           {"seed", std::to_string(request.seed)},
                           {"seconds of all trials", std::to_string(std::lround(outcome.seconds))}});
  AtomicFile target(folder / (stem + ".json"));
  target.write(lines_of(json));
  target.commit();
  report.write(folder / (stem + ".html"));
  return outcome;
}

}  // namespace gsc::experiments
