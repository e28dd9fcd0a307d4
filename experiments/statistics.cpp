#include "statistics.h"

#include <algorithm>
#include <cmath>

namespace gsc::experiments {

Spread spread_of(std::vector<double> values) {
  Spread spread;
  spread.count = static_cast<int>(values.size());
  if (values.empty()) return spread;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  for (const double value : values) spread.mean += value / n;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.error = values.size() > 1 ? std::sqrt(squares / (n - 1) / n) : 0;
  const std::size_t half = values.size() / 2;
  spread.median = values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
  spread.smallest = values.front();
  spread.largest = values.back();
  return spread;
}

Json json_of(const Spread& spread) {
  return {{"mean", spread.mean},         {"error", spread.error},     {"median", spread.median},
          {"smallest", spread.smallest}, {"largest", spread.largest}, {"trials", spread.count}};
}

bool fits(const Finished& trial, const Json& where) {
  return std::all_of(where.items().begin(), where.items().end(), [&](const auto& item) {
    return trial.settings.contains(item.key()) && trial.settings[item.key()] == item.value();
  });
}

std::optional<double> result_of(const Finished& trial, const std::string& field) {
  const auto found = trial.result.find(field);
  if (found == trial.result.end() || !found->is_number()) return {};
  return found->get<double>();
}

std::vector<double> collect(const std::vector<Finished>& trials, const Json& where, const std::string& field) {
  std::vector<double> values;
  for (const Finished& trial : trials)
    if (const std::optional<double> value = result_of(trial, field); value && fits(trial, where))
      values.push_back(*value);
  return values;
}

Spread spread_of(const std::vector<Finished>& trials, const Json& where, const std::string& field) {
  return spread_of(collect(trials, where, field));
}

std::vector<double> paired_differences(const std::vector<Finished>& trials, const Json& a, const Json& b,
                                       const std::string& field) {
  std::vector<double> differences;
  for (const Finished& trial : trials) {
    const std::optional<double> value = result_of(trial, field);
    if (!value || !fits(trial, a)) continue;
    Json other = b;
    other["seed"] = trial.settings["seed"];
    const std::vector<double> results = collect(trials, other, field);
    if (results.size() == 1) differences.push_back(*value - results[0]);
  }
  return differences;
}

void add_point(Chart::Series& series, double x, const Spread& y) {
  series.x.push_back(x);
  series.y.push_back(y.mean);
  series.error.push_back(y.error);
}

}  // namespace gsc::experiments
