#include "reproduce.h"

#include <gsc/version.h>
#include <cmath>
#include <numeric>

#include "data/atomic_file.h"

namespace gsc::embedded {
std::string_view published_json();
}

namespace gsc::experiments {
namespace fs = std::filesystem;

const std::vector<std::unique_ptr<Experiment>>& all_experiments() {
  static const std::vector<std::unique_ptr<Experiment>> all = [] {
    std::vector<std::unique_ptr<Experiment>> list;
    for (const auto make : {posteriors, posterior_mass, selection, consistency, directions, separation,
                            separation_noisy, table1, cost, house, table2, truncation, scaling, repartitioning})
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

  Json json{{"experiment", experiment.name()},
            {"place", experiment.place()},
            {"version", GSC_VERSION},
            {"quick", request.quick},
            {"seed", request.seed},
            {"trials", outcome.trials},
            {"seconds", outcome.seconds},
            {"claims", Json::array()},
            {"figures", outcome.summary.figures},
            {"published", published(experiment.name())},
            {"runs", Json::array()}};
  std::vector<std::vector<std::string>> rows;
  for (const Claim& claim : outcome.summary.claims) {
    json["claims"].push_back({{"text", claim.text}, {"holds", claim.holds}});
    rows.push_back({claim.text, claim.holds ? "yes" : "no"});
  }
  for (const Finished& trial : trials)
    json["runs"].push_back({{"settings", trial.settings}, {"result", trial.result}, {"seconds", trial.seconds}});
  if (!rows.empty()) {
    report.add_heading("What it shows");
    report.add_table({"claim", "here"}, rows);
  }
  report.add_facts("Run", {{"experiment", experiment.name()},
                           {"version", GSC_VERSION},
                           {"trials", std::to_string(outcome.trials)},
                           {"seed", std::to_string(request.seed)},
                           {"seconds of all trials", std::to_string(std::lround(outcome.seconds))}});
  const std::string text = json.dump(1) + "\n";
  AtomicFile target(folder / (stem + ".json"));
  target.write(text);
  target.commit();
  report.write(folder / (stem + ".html"));
  return outcome;
}

}  // namespace gsc::experiments
