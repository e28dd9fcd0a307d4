#include "separate_report.h"

#include <fmt/format.h>
#include <gsc/recording.h>
#include <gsc/report.h>
#include <gsc/words.h>

#include <algorithm>
#include <cmath>

#include "learning_report.h"
#include "metrics.h"
#include "progress.h"
#include "separate_method.h"
#include "starts.h"

namespace gsc::cli {

namespace {

/// How strong each source is in each channel, by name, where the table is of a size to be looked at.
void add_mixing(Report& report, const Matrix& mixing, const Channels& channels) {
  constexpr Index kMostSources = 20, kMostChannels = 128;
  if (mixing.cols() > kMostSources || mixing.rows() > kMostChannels) return;
  const Recording names{.names = channels.names};
  std::vector<std::string> header = {"channel"};
  for (Index h = 0; h < mixing.cols(); ++h) header.push_back(fmt::format("source {}", h + 1));
  std::vector<std::vector<std::string>> rows;
  for (Index d = 0; d < mixing.rows(); ++d) {
    rows.push_back({names.channel_name(d)});
    for (Index h = 0; h < mixing.cols(); ++h) rows.back().push_back(fmt::format("{:.3g}", mixing(d, h)));
  }
  report.add_heading("Mixing matrix");
  report.add_table(header, rows);
}

/// FastICA's own figures, under the names that those of learning have.
Json fastica_metrics(const Settings& settings, const Data& data, const Separation& separation) {
  const FasticaRun& run = *separation.fastica;
  Json json = metrics_header("separate", settings, data);
  json.erase("device");
  json["seed"] = settings.fit.seed;
  json["latents"] = separation.sources.rows();
  json["iterations"] = run.iterations;
  json["stop_reason"] = run.converged ? "converged" : "iterations";
  json["change"] = run.change;
  json["seconds"] = separation.fit.seconds;
  json["options"] = separate_options_json(settings);
  return json;
}

Json model_metrics(const Settings& settings, const Data& data, const Separation& separation) {
  Json json = fit_metrics(settings, data, separation.fit);
  json["command"] = "separate";
  json["options"] = separate_options_json(settings);
  json["noise_share"] = separation.noise_share ? Json(*separation.noise_share) : Json();
  add_starts(json, settings.fit.seed, separation.free_energies, separation.winner, separation.options.inference.method);
  return json;
}

}  // namespace

std::string separate_summary(const Separation& separation, double samples) {
  if (!has_model(separation)) {
    const FasticaRun& run = *separation.fastica;
    return fmt::format("{} after {}, {:.2f} s", run.converged ? "converged" : "stopped",
                       counted(run.iterations, "iteration"), separation.fit.seconds);
  }
  return fit_summary(separation.fit, samples) +
         starts_text(separation.free_energies, separation.winner, separation.options.inference.method);
}

std::string score_text(const SeparationScore& score) {
  std::string text = score.amari
                         ? fmt::format("Amari index {:.4f} (0: mixing found up to order and scale)", *score.amari)
                         : "no Amari index: the learned mixing matrix is not square and regular";
  text += "\n  correlation of each true source with the one found for it, sign ignored:";
  for (const SourceMatch& match : score.matches) text += fmt::format(" {:.3f}", match.correlation);
  return text;
}

Json separate_metrics(const Settings& settings, const Channels& channels, const Separation& separation,
                      const std::optional<SeparationScore>& score) {
  const MatrixData data(channels.values.transpose(), channels.name);
  Json json =
      has_model(separation) ? model_metrics(settings, data, separation) : fastica_metrics(settings, data, separation);
  json["whitened"] = separation.whitened;
  json["notes"] = separation.notes;
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

void write_separation_report(const std::string& path, const Settings& settings, const Channels& channels,
                             const Separation& separation, const std::optional<SeparationScore>& score) {
  constexpr Index kShown = 2000;
  const SeparateSettings& asked = settings.separate;
  std::string subtitle =
      fmt::format("{} sources of {}", separation.sources.rows(),
                  asked.sources.empty() ? fmt::format("{}", fmt::join(asked.files, ", ")) : asked.sources + ", mixed");
  if (score && score->amari) subtitle += fmt::format("; Amari index {:.4f}", *score->amari);
  Report report("Sources separated", subtitle);
  report.add_heading("Sources");
  const Index shown = std::min(kShown, separation.sources.cols());
  std::vector<double> times(static_cast<std::size_t>(shown));
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i] = static_cast<double>(asked.offset + static_cast<Index>(i)) / (channels.rate > 0 ? channels.rate : 1);
  std::vector<Chart> charts;
  for (Index h = 0; h < separation.sources.rows(); ++h) {
    Chart chart;
    chart.title = fmt::format("source {}", h + 1);
    chart.x_label = channels.rate > 0 ? "seconds" : "sample";
    const Vector trace = separation.sources.row(h).head(shown).transpose();
    chart.series.push_back({chart.title, {trace.begin(), trace.end()}, times});
    charts.push_back(std::move(chart));
  }
  report.add_charts(charts);
  const char* what = has_model(separation) ? "Posterior means" : "Values, with unit variance,";
  report.add_text(shown < separation.sources.cols()
                      ? fmt::format("{} of the first {} of {} samples.", what, shown, separation.sources.cols())
                      : fmt::format("{} of all {} samples.", what, shown));
  if (has_model(separation)) add_model(report, separation.fit.state, {});
  add_mixing(report, separation.mixing, channels);
  if (has_model(separation))
    add_starts(report, settings.fit.seed, separation.free_energies, separation.options.inference.method);
  add_options(report, separate_options_json(settings));
  report.write(path);
}

}  // namespace gsc::cli
