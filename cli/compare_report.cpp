#include <fmt/format.h>
#include <gsc/report.h>
#include <gsc/version.h>

#include <algorithm>
#include <cctype>

#include "compare.h"
#include "denoise_report.h"
#include "learning_report.h"
#include "metrics.h"
#include "options/compare_options.h"
#include "options/option_values.h"
#include "options/shape.h"
#include "pages/help.h"

namespace gsc::cli {
namespace {

std::string name_of(const MethodRun& run) { return std::string(to_string(run.method())); }

/// What the method makes better. Values are comparable where the words are the same: those of online learning depend on
/// its coding, and of the lasso on its weight.
std::string objective_of(const MethodRun& run) {
  const CodingOptions& coding = run.options.inference.coding;
  const MethodTraits& its = traits(run.method());
  if (its.point_estimate && !its.coding && coding.coding != Coding::lasso)
    return coding.coding == Coding::bounded ? "sum of |codes|" : "half squared error";
  std::string text(its.objective.text);
  return codes_by_lambda(run.options.inference) && coding.lambda > 0
             ? fmt::format("{}, lambda {:.4g}", text, coding.lambda)
             : text;
}

/// What methods make better, each once.
std::vector<std::string> objectives_of(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const MethodRun& run : comparison.runs)
    if (std::find(texts.begin(), texts.end(), objective_of(run)) == texts.end()) texts.push_back(objective_of(run));
  return texts;
}

/// What the values of the objectives are, and that those of different kinds are no measure of who is better.
std::vector<std::string> objective_notes(const Comparison& comparison) {
  const auto& runs = comparison.runs;
  const std::vector<std::string> objectives = objectives_of(comparison);
  std::vector<std::string> notes;
  if (std::any_of(runs.begin(), runs.end(), [](const MethodRun& run) { return spike_and_slab(run.method()); }))
    notes.emplace_back(
        "Free energies are lower bounds of the log-likelihood; exact is the log-likelihood itself. That of factored "
        "also pays for its prior on the basis, unless --basis-prior is none.");
  if (objectives.size() > 1)
    notes.push_back(
        fmt::format("Methods make different things better ({}), whose values say nothing about who is better.",
                    fmt::join(objectives, ", ")));
  if (objectives.size() > 1 && comparison.measure == "free_energy")
    notes.emplace_back("Who is better is not known: give the truth (--clean, --add-noise or --truth).");
  return notes;
}

Json shown_options(const Settings& settings, const Comparison& comparison) {
  std::vector<Method> methods;
  for (const MethodRun& run : comparison.runs) methods.push_back(run.method());
  return compare_options_json(settings, methods, comparison.picture.has_value());
}

std::string seconds_text(double seconds) {
  if (seconds < 0.01) return fmt::format("{:.2f} ms", 1000 * seconds);
  return fmt::format("{:.{}f} s", seconds, seconds < 1 ? 3 : seconds < 100 ? 2 : 0);
}

/// Of learning up to each iteration.
std::vector<double> seconds_of(const MethodRun& run) {
  std::vector<double> seconds;
  for (const IterationReport& row : run.fit.state.history)
    seconds.push_back((seconds.empty() ? 0 : seconds.back()) + row.seconds);
  return seconds;
}

/// The first row is the header.
std::vector<std::vector<std::string>> table_of(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows(comparison.runs.size() + 1);
  const auto column = [&](const std::string& title, const auto& text) {
    rows[0].push_back(title);
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) rows[i + 1].push_back(text(comparison.runs[i]));
  };
  using Run = const MethodRun&;
  column("method", name_of);
  const std::vector<std::string> objectives = objectives_of(comparison);
  const bool same = objectives.size() == 1;
  column(same ? objectives.front() : "objective", [&](Run run) {
    return fmt::format("{}{:.9g}", same ? "" : objective_of(run) + " ", run.fit.last().free_energy);
  });
  if (comparison.measure == "psnr") {
    column("PSNR", [](Run run) { return fmt::format("{:.2f} dB", run.score->psnr); });
    column("SSIM", [](Run run) { return run.score->ssim ? fmt::format("{:.3f}", *run.score->ssim) : "-"; });
  }
  if (comparison.measure == "amari")
    column("Amari index", [](Run run) { return run.amari ? fmt::format("{:.4f}", *run.amari) : "-"; });
  column("noise std", [](Run run) {
    return run.noise.empty() ? "-" : fmt::format("{:.4g} {}", run.fit.last().noise_std, run.noise);
  });
  column("iterations", [](Run run) { return fmt::format("{}", run.fit.last().iteration); });
  column("learning", [](Run run) { return seconds_text(seconds_of(run).back()); });
  if (comparison.picture) column("inference", [](Run run) { return seconds_text(*run.seconds_inferring); });
  return rows;
}

Json method_json(const Comparison& comparison, const MethodRun& run) {
  const IterationReport& last = run.fit.last();
  const InferenceOptions& inference = run.options.inference;
  const bool has_candidates = traits(inference.method).has_candidates;
  const std::string objective(objective_name(run.method()));
  const std::vector<double> seconds = seconds_of(run);
  Json json{{"method", name_of(run)},
            {"latents", run.options.latents},
            {"candidates", has_candidates ? Json(inference.candidates) : Json()},
            {"max_active", has_candidates ? Json(inference.max_active) : Json()},
            {"iterations", last.iteration},
            {"stop_reason", to_string(run.fit.reason)},
            {"objective", objective},
            {objective, last.free_energy},
            {"noise_std", run.noise.empty() ? Json() : Json(last.noise_std)},
            {"noise_is", run.noise.empty() ? Json() : Json(run.noise)},
            {"mean_active", last.mean_active},
            {"latents_in_use", last.latents_in_use},
            {"rescues", rescues_json(run.fit.state.rescues)}};
  if (run.score) {
    json["psnr"] = run.score->psnr;
    json["ssim"] = value_json(run.score->ssim);
  }
  if (comparison.measure == "amari") json["amari"] = value_json(run.amari);
  json["seconds_learning"] = seconds.back();
  if (run.seconds_inferring) json["seconds_inferring"] = *run.seconds_inferring;
  json["curve"] = Json::array();
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    const IterationReport& row = run.fit.state.history[i];
    json["curve"].push_back({{"iteration", row.iteration}, {"seconds", seconds[i]}, {objective, row.free_energy}});
  }
  return json;
}

/// A line for each method that makes `objective` better.
Chart chart_of(const Comparison& comparison, const std::string& objective, bool against_time) {
  Chart chart;
  chart.x_label = against_time ? "seconds" : "iteration";
  chart.y_label = objective;
  chart.title = fmt::format("{} against {}", objective, chart.x_label);
  chart.title.front() = static_cast<char>(std::toupper(chart.title.front()));
  chart.log_x = against_time;
  std::vector<double> values;
  for (const MethodRun& run : comparison.runs) {
    if (objective_of(run) != objective) continue;
    Chart::Series series{name_of(run), {}};
    for (const IterationReport& row : run.fit.state.history) {
      if (!against_time) series.x.push_back(row.iteration);
      series.y.push_back(row.free_energy);
    }
    if (against_time) series.x = seconds_of(run);
    if (spike_and_slab(run.method())) values.insert(values.end(), series.y.begin(), series.y.end());
    chart.series.push_back(std::move(series));
  }
  // Without a legend nobody knows whose the only line is.
  if (chart.series.size() == 1) chart.title += ": " + chart.series.front().name;
  if (!values.empty()) chart.y_from = readable_from(values);
  return chart;
}

void add_pictures(Report& report, const Comparison& comparison) {
  const auto& [noisy, clean] = *comparison.picture;
  const double peak = noisy.peak();
  std::vector<Figure> figures = {{"noisy", "", noisy, 0, peak}};
  if (clean) {
    const PictureScore& score = *comparison.runs.front().score;
    figures.front().detail = scores_text(score.psnr_noisy, score.ssim_noisy);
    figures.push_back({"clean", "", *clean, 0, peak});
  }
  for (const MethodRun& run : comparison.runs)
    figures.push_back(
        {name_of(run), run.score ? scores_text(run.score->psnr, run.score->ssim) : "", run.picture, 0, peak});
  report.add_heading("Pictures");
  report.add_figures(figures);
}

}  // namespace

std::string comparison_text(const Comparison& comparison) {
  const std::vector<std::vector<std::string>> rows = table_of(comparison);
  std::vector<std::size_t> widths(rows[0].size());
  for (const auto& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  std::string text;
  for (const auto& row : rows) {
    text += fmt::format("{:<{}}", row[0], widths[0]);
    for (std::size_t c = 1; c < row.size(); ++c) text += fmt::format("  {:>{}}", row[c], widths[c]);
    text += '\n';
  }
  for (const std::string& note : objective_notes(comparison)) text += wrapped(note, 0);
  return text;
}

Json comparison_json(const Settings& settings, const Comparison& comparison) {
  Json json{{"command", "compare"},
            {"version", GSC_VERSION},
            {"input", settings.compare.input},
            {"seed", settings.fit.seed},
            {"threads", thread_count(settings.fit.inference.threads)},
            {"seconds", comparison.seconds}};
  if (comparison.picture) {
    json["height"] = comparison.picture->noisy.height();
    json["width"] = comparison.picture->noisy.width();
    json["channels"] = comparison.picture->noisy.channels.size();
    json["patch"] = comparison.runs.back().patch;
  } else {
    json["data_points"] = comparison.data_points;
    json["dimensions"] = comparison.dimensions;
  }
  if (const std::optional<PictureScore>& score = comparison.runs.front().score) {
    json["psnr_noisy"] = score->psnr_noisy;
    json["ssim_noisy"] = value_json(score->ssim_noisy);
  }
  json["measure"] = comparison.measure;
  json["methods"] = Json::array();
  for (const MethodRun& run : comparison.runs) json["methods"].push_back(method_json(comparison, run));
  json["options"] = shown_options(settings, comparison);
  return json;
}

void write_comparison_report(const std::string& path, const Settings& settings, const Comparison& comparison) {
  std::vector<std::string> names;
  for (const MethodRun& run : comparison.runs) names.push_back(name_of(run));
  Report report("Methods compared on " + settings.compare.input, fmt::format("{}", fmt::join(names, ", ")));
  std::vector<std::vector<std::string>> rows = table_of(comparison);
  const std::vector<std::string> header = std::move(rows.front());
  rows.erase(rows.begin());
  report.add_table(header, rows);
  for (const std::string& note : objective_notes(comparison)) report.add_text(note);
  std::vector<Chart> charts;
  for (const std::string& objective : objectives_of(comparison))
    for (const bool against_time : {true, false}) charts.push_back(chart_of(comparison, objective, against_time));
  report.add_heading("Learning");
  report.add_charts(charts);
  if (comparison.picture) add_pictures(report, comparison);
  for (const MethodRun& run : comparison.runs) {
    report.add_heading("Basis functions: " + name_of(run));
    if (comparison.picture)
      report.add_basis(run.fit.model(), run.patch, run.patch,
                       static_cast<Index>(comparison.picture->noisy.channels.size()));
    else
      add_basis(report, run.fit.model(), drawn_shape(settings.show_basis, settings.fit.shape));
  }
  add_options(report, shown_options(settings, comparison));
  report.add_facts("Run", {{"version", GSC_VERSION},
                           {"seconds", fmt::format("{:.1f}", comparison.seconds)},
                           {"seed", fmt::format("{}", settings.fit.seed)},
                           {"threads", fmt::format("{}", thread_count(settings.fit.inference.threads))}});
  report.write(path);
}

}  // namespace gsc::cli
