#include "starts.h"

#include <fmt/format.h>
#include <gsc/restarts.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace gsc::cli {

void StartsWatcher::on_iteration(const FitState& state) {
  const IterationReport& row = state.history.back();
  if (row.iteration == 0)
    ++begun_;
  else
    ++done_;
  if ((begun_ == 1 && row.iteration == 0) || better(method_, row.free_energy, best_)) {
    best_ = row.free_energy;
    estimated_ = row.estimated;
  }
  const double all = static_cast<double>(starts_) * iterations_;
  const std::string left =
      done_ > 0 ? fmt::format(", at most {} left", duration_text(watch_.seconds() * (all - done_) / done_)) : "";
  progress_.show(fmt::format("start {} of {}, {} of at most {:.0f} iterations{}, best {} {}{:.9g}", begun_, starts_,
                             done_, all, left, objective_text(method_), estimated_ ? "about " : "", best_),
                 std::chrono::seconds(5));
}

bool StartsWatcher::stop_requested() { return interrupted(); }

std::string starts_text(const std::vector<double>& free_energies, int winner, Method method) {
  const StartsSummary summary = compare_starts(free_energies);
  std::string text;
  if (free_energies.size() > 1 && traits(method).objective.minimised)
    text += fmt::format("\n  starts          start {} of {} has the least {}; the worst is {:.4g} above", winner + 1,
                        free_energies.size(), objective_text(method), summary.range);
  else if (free_energies.size() > 1)
    text += fmt::format("\n  starts          {} of {} within 1 of the best {} (start {}); the worst is {:.4g} below",
                        summary.near, free_energies.size(), objective_text(method), winner + 1, summary.range);
  if (summary.failed > 0)
    text += fmt::format("\n  note            {} of {} starts left the range of the arithmetic and do not count",
                        summary.failed, free_energies.size());
  return text;
}

void add_starts(Json& metrics, std::uint64_t seed, const std::vector<double>& free_energies, int winner,
                Method method) {
  metrics["best_seed"] = seed + static_cast<std::uint64_t>(winner);
  const std::string name(objective_name(method));
  metrics[name.ends_with("y") ? name.substr(0, name.size() - 1) + "ies" : name + "s"] =
      free_energies;  // NaN, of a start that failed, is written as null
  metrics["spread"] = compare_starts(free_energies).range;
}

void add_starts(Report& report, std::uint64_t seed, const std::vector<double>& free_energies, Method method) {
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < free_energies.size(); ++i)
    rows.push_back({fmt::format("{}", seed + i),
                    std::isnan(free_energies[i]) ? "failed" : fmt::format("{:.9g}", free_energies[i])});
  report.add_heading("Starts");
  report.add_table({"seed", std::string(objective_text(method))}, rows);
}

}  // namespace gsc::cli
