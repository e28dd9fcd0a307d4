// How learning went: key numbers, charts against iteration, how often each latent is used.

#include <fmt/format.h>
#include <gsc/report.h>
#include <gsc/rescues.h>
#include <gsc/words.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "report/basis_order.h"
#include "report/html.h"

namespace gsc {
namespace {

using History = std::vector<IterationReport>;

template <class Value>
Chart against_iteration(const History& history, const std::string& title, const std::string& label, Value value) {
  Chart chart;
  chart.title = title;
  chart.x_label = "iteration";
  chart.y_label = label;
  Chart::Series series{label, {}, {}};
  for (const IterationReport& row : history) {
    series.x.push_back(row.iteration);
    series.y.push_back(static_cast<double>(value(row)));
  }
  chart.series.push_back(std::move(series));
  return chart;
}

Chart sorted_pi(const Vector& pi) {
  Chart chart;
  chart.title = "How often each latent is active";
  chart.x_label = "latent, most often used first";
  chart.y_label = "probability pi";
  // Bars are countable up to some number; a log axis is needed where the least used are far below the most used.
  chart.kind = pi.size() <= 128 ? Chart::Kind::bar : Chart::Kind::line;
  chart.log_y = pi.size() > 0 && pi.maxCoeff() > 100 * pi.minCoeff() && pi.minCoeff() > 0;
  Chart::Series series{"pi", {}, {}};
  for (const Index h : order_by_use(pi)) {
    series.x.push_back(static_cast<double>(series.x.size() + 1));
    series.y.push_back(pi[h]);
  }
  chart.series.push_back(std::move(series));
  return chart;
}

}  // namespace

std::optional<double> readable_from(const std::vector<double>& values) {
  std::vector<double> sorted;
  std::copy_if(values.begin(), values.end(), std::back_inserter(sorted), [](double f) { return std::isfinite(f); });
  if (sorted.size() < 8) return {};
  std::sort(sorted.begin(), sorted.end());
  const double low = sorted[(sorted.size() + 9) / 10], high = sorted.back();
  if (high - low <= 0 || high - low > 0.5 * (high - sorted.front())) return {};
  return low - 0.1 * (high - low);
}

void Report::add_learning(const FitState& state, Method method) {
  const std::string objective(objective_text(method));
  const History& history = state.history;
  const Vector& pi = state.model.pi;
  if (history.empty()) {
    add_text("No iterations were recorded.");
    if (pi.size() > 0) add_charts({sorted_pi(pi)});
    return;
  }

  double seconds = 0;
  std::int64_t dips = 0;
  for (const IterationReport& row : history) {
    seconds += row.seconds;
    dips += row.dip;
  }
  const IterationReport& last = history.back();
  const std::pair<const char*, std::string> numbers[] = {
      {"iterations", fmt::format("{}", last.iteration)},
      {objective.c_str(), html::number(last.free_energy)},
      {"noise std", html::number(last.noise_std, 4)},
      {"active per data point", html::number(last.mean_active, 4)},
      {"latents in use", fmt::format("{} of {}", last.latents_in_use, state.model.latents())},
      {"time", html::duration(seconds)},
  };
  body_ += "<dl class=\"numbers\">\n";
  for (const auto& [name, value] : numbers)
    body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", name, html::escape(value));
  body_ += "</dl>\n";

  std::string title = objective;
  title.front() = static_cast<char>(std::toupper(title.front()));
  std::vector<Chart> charts = {
      against_iteration(history, title.c_str(), objective.c_str(), [](const auto& row) { return row.free_energy; }),
      against_iteration(history, "Noise level", "standard deviation", [](const auto& row) { return row.noise_std; }),
      against_iteration(history, "Active latents", "mean per data point",
                        [](const auto& row) { return row.mean_active; }),
      against_iteration(history, "Latents in use", "latents", [](const auto& row) { return row.latents_in_use; }),
  };
  if (!traits(method).objective.minimised) charts[0].y_from = readable_from(charts[0].series[0].y);
  if (pi.size() > 0) charts.push_back(sorted_pi(pi));
  charts.push_back(
      against_iteration(history, "Time per iteration", "seconds", [](const auto& row) { return row.seconds; }));
  add_charts(charts);

  if (dips > 0)
    add_text(fmt::format("The {} {} in {}.", objective, traits(method).objective.minimised ? "rose" : "fell",
                         counted(dips, "iteration")));
  for_each_rescue([&](auto member, auto, const char* words) {
    if (const std::int64_t count = state.rescues.*member; count > 0)
      add_text(fmt::format("Numerical rescue: {} ({} times).", words, count));
  });
}

}  // namespace gsc
