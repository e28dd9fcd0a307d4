#include "separate_report.h"

#include <fmt/format.h>
#include <gsc/metrics.h>
#include <gsc/report.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "learning_report.h"
#include "metrics.h"
#include "progress.h"

namespace gsc::cli {

Spread spread_of(const std::vector<double>& free_energies) {
  Spread spread;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double best = -kInfinity, worst = kInfinity;
  for (std::size_t i = 0; i < free_energies.size(); ++i) {
    const double value = free_energies[i];
    if (std::isnan(value)) {
      ++spread.failed;
      continue;
    }
    if (value > best) spread.best = static_cast<Index>(i);
    best = std::max(best, value);
    worst = std::min(worst, value);
  }
  spread.range = best - worst;
  spread.near = std::count_if(free_energies.begin(), free_energies.end(), [&](double f) { return f > best - 1; });
  return spread;
}

Score score_of(const Truth& truth, const Separation& separation) {
  Score score;
  score.matches = match_sources(truth.sources, separation.sources);
  if (separation.mixing.cols() != truth.mixing.cols()) return score;
  try {
    const double amari = amari_index(separation.mixing, truth.mixing);
    if (std::isfinite(amari)) score.amari = amari;
  } catch (const Error&) {
    // A singular matrix has no index; score_text() says so.
  }
  return score;
}

std::string separate_summary(const Separation& separation, double samples) {
  const std::vector<double>& free_energies = separation.free_energies;
  const Spread spread = spread_of(free_energies);
  std::string text = fit_summary(separation.fit, samples);
  if (free_energies.size() > 1)
    text += fmt::format(
        "\n  starts          {} of {} within 1 of the best free energy (start {}); the worst is {:.4g} below",
        spread.near, free_energies.size(), spread.best + 1, spread.range);
  if (spread.failed > 0)
    text += fmt::format("\n  note            {} of {} starts left the range of the arithmetic and do not count",
                        spread.failed, free_energies.size());
  return text;
}

std::string score_text(const Score& score) {
  std::string text = score.amari
                         ? fmt::format("Amari index {:.4f} (0: mixing found up to order and scale)", *score.amari)
                         : "no Amari index: the learned mixing matrix is not square and regular";
  text += "\n  correlation of each true source with the one found for it, sign ignored:";
  for (const SourceMatch& match : score.matches) text += fmt::format(" {:.3f}", match.correlation);
  return text;
}

Json separate_metrics(const Settings& settings, const Channels& channels, const Separation& separation,
                      const std::optional<Score>& score) {
  const MatrixData data(channels.values.transpose(), channels.name);
  Json json = fit_metrics(settings, data, separation.fit);
  json["command"] = "separate";
  json["options"] = options_json(kSeparate, settings);
  const Spread spread = spread_of(separation.free_energies);
  json["best_seed"] = settings.fit.seed + static_cast<std::uint64_t>(spread.best);
  json["free_energies"] = separation.free_energies;  // NaN, of a start that failed, is written as null
  json["spread"] = spread.range;
  if (!score) return json;
  json["amari"] = score->amari ? Json(*score->amari) : Json();
  json["correlations"] = Json::array();
  json["matches"] = Json::array();
  for (const SourceMatch& match : score->matches) {
    json["correlations"].push_back(match.correlation);
    json["matches"].push_back(match.found);
  }
  return json;
}

void write_separation_report(const std::string& path, const Settings& settings, const Separation& separation,
                             const std::optional<Score>& score) {
  constexpr Index kShown = 2000;
  const SeparateSettings& asked = settings.separate;
  std::string subtitle =
      fmt::format("{} sources of {}", separation.sources.rows(),
                  asked.sources.empty() ? fmt::format("{}", fmt::join(asked.files, ", ")) : asked.sources + ", mixed");
  if (score && score->amari) subtitle += fmt::format("; Amari index {:.4f}", *score->amari);
  Report report("Sources separated", subtitle);
  report.add_heading("Sources");
  const Index shown = std::min(kShown, separation.sources.cols());
  std::vector<Chart> charts;
  for (Index h = 0; h < separation.sources.rows(); ++h) {
    Chart chart;
    chart.title = fmt::format("source {}", h + 1);
    chart.x_label = "sample";
    const Vector trace = separation.sources.row(h).head(shown).transpose();
    chart.series.push_back({chart.title, {trace.begin(), trace.end()}, {}});
    charts.push_back(std::move(chart));
  }
  report.add_charts(charts);
  report.add_text(shown < separation.sources.cols()
                      ? fmt::format("Posterior means of the first {} of {} samples.", shown, separation.sources.cols())
                      : fmt::format("Posterior means of all {} samples.", shown));
  FitState of_channels = separation.fit.state;
  of_channels.model.W = separation.mixing;
  add_model(report, of_channels, {});
  std::vector<std::vector<std::string>> starts;
  for (std::size_t i = 0; i < separation.free_energies.size(); ++i)
    starts.push_back(
        {fmt::format("{}", settings.fit.seed + i),
         std::isnan(separation.free_energies[i]) ? "failed" : fmt::format("{:.9g}", separation.free_energies[i])});
  report.add_heading("Starts");
  report.add_table({"seed", "free energy"}, starts);
  add_options(report, options_json(kSeparate, settings));
  report.write(path);
}

}  // namespace gsc::cli
