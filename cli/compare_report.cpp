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
#include "report/readable_from.h"

namespace gsc::cli {
namespace {

std::string name_of(const MethodRun& run) { return std::string(to_string(run.method())); }

/// What methods make better, each once.
std::vector<std::string> objectives_of(const Comparison& comparison) {
  std::vector<std::string> texts;
  for (const MethodRun& run : comparison.runs)
    if (std::find(texts.begin(), texts.end(), objective_of(run)) == texts.end()) texts.push_back(objective_of(run));
  return texts;
}

/// What the values of the objectives are, and that those of different kinds are no measure of who is better.
std::string objective_note(const Comparison& comparison) {
  std::string note;
  if (std::any_of(comparison.runs.begin(), comparison.runs.end(),
                  [](const MethodRun& run) { return spike_and_slab(run.method()); }))
    note =
        "Free energies are lower bounds of the log-likelihood; exact is the log-likelihood itself. That of factored "
        "also pays for its prior on the basis, unless --basis-prior is none.";
  if (!comparison.same_objective())
    note += fmt::format("{}Methods make different things better ({}), whose values say nothing about who is better.",
                        note.empty() ? "" : " ", fmt::join(objectives_of(comparison), ", "));
  return note;
}

Json shown_options(const Settings& settings, const Compared& compared) {
  std::vector<Method> methods;
  for (const MethodRun& run : compared.comparison.runs) methods.push_back(run.method());
  return compare_options_json(settings, methods, compared.picture.has_value());
}

std::string seconds_text(double seconds) {
  if (seconds < 0.01) return fmt::format("{:.2f} ms", 1000 * seconds);
  return fmt::format("{:.{}f} s", seconds, seconds < 1 ? 3 : seconds < 100 ? 2 : 0);
}

std::string measure_name(const Comparison& comparison) {
  return comparison.measure == Measure::psnr    ? "PSNR"
         : comparison.measure == Measure::amari ? "Amari index"
                                                : objective_of(comparison.runs.front());
}

/// Whether there is something by which methods can be told better or worse.
bool is_a_race(const Comparison& comparison) {
  return comparison.measure != Measure::free_energy || comparison.same_objective();
}

/// How models of earlier iterations were judged, where there was no time for all of the picture.
std::string judging_note(const Comparison& comparison) {
  if (std::none_of(comparison.runs.begin(), comparison.runs.end(),
                   [](const MethodRun& run) { return run.judged_part < 1; }))
    return "";
  std::vector<std::string> parts;
  for (const MethodRun& run : comparison.runs)
    parts.push_back(fmt::format("{} {:.0f} %", name_of(run), 100 * run.judged_part));
  return fmt::format(
      " Judging may take {:.0f} % of the time of learning, so up to six models of earlier iterations were judged, in "
      "the "
      "middle of the picture ({}), as the PSNR there plus what the last model has more on the whole.",
      100 * kMostJudging, fmt::join(parts, ", "));
}

bool many(const Comparison& comparison) { return comparison.runs.size() + (comparison.fastica ? 1 : 0) > 2; }

std::string learning_text(const Comparison& comparison, const LearningCurve& curve) {
  return seconds_text(curve.back().seconds) + (comparison.overran(curve) ? " *" : "");
}

/// Whose learning took longer than it should.
std::string overrun_note(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const MethodRun& run : comparison.runs)
    if (comparison.overran(run.curve)) names.push_back(name_of(run));
  if (comparison.fastica && comparison.overran(comparison.fastica->curve)) names.emplace_back("fastica");
  if (names.empty()) return "";
  return fmt::format(
      "* {} had more than the {} for each method: learning ends with a complete iteration, and not before the first.",
      fmt::join(names, ", "), seconds_text(comparison.seconds));
}

std::string race_text(const Race& race) {
  return !race.target ? "-" : race.seconds ? seconds_text(*race.seconds) : "never";
}

/// It has no more than an index and its time; where there is an index there is a race.
std::vector<std::string> fastica_row(const Comparison& comparison) {
  const FasticaCourse& course = *comparison.fastica;
  const CurvePoint& last = course.curve.back();
  return {"fastica",
          "-",
          last.quality ? fmt::format("{:.4f}", *last.quality) : "-",
          "-",
          fmt::format("{}", last.iteration),
          learning_text(comparison, course.curve),
          race_text(course.race)};
}

/// The first row is the header.
std::vector<std::vector<std::string>> table_of(const Comparison& comparison) {
  std::vector<std::vector<std::string>> rows(comparison.runs.size() + 1);
  const auto column = [&](const char* title, const auto& text) {
    rows[0].push_back(title);
    for (std::size_t i = 0; i < comparison.runs.size(); ++i) rows[i + 1].push_back(text(comparison.runs[i]));
  };
  using Run = const MethodRun&;
  column("method", [](Run run) { return name_of(run); });
  if (comparison.same_objective())
    column(objective_of(comparison.runs.front()).c_str(),
           [](Run run) { return fmt::format("{:.9g}", run.fit.last().free_energy); });
  else
    column("objective",
           [](Run run) { return fmt::format("{} {:.9g}", objective_of(run), run.fit.last().free_energy); });
  if (comparison.measure == Measure::psnr) {
    column("PSNR", [](Run run) { return fmt::format("{:.2f} dB", run.score->psnr); });
    column("SSIM", [](Run run) { return run.score->ssim ? fmt::format("{:.3f}", *run.score->ssim) : "-"; });
  }
  if (comparison.measure == Measure::amari)
    column("Amari index", [](Run run) {
      const std::optional<double> amari = run.curve.back().quality;
      return amari ? fmt::format("{:.4f}", *amari) : "-";
    });
  column("noise std", [](Run run) {
    return run.noise.empty() ? "-" : fmt::format("{:.4g} {}", run.fit.last().noise_std, run.noise);
  });
  column("iterations", [](Run run) { return fmt::format("{}", run.fit.last().iteration); });
  column("learning", [&](Run run) { return learning_text(comparison, run.curve); });
  if (comparison.patch > 0) column("inference", [](Run run) { return seconds_text(*run.seconds_inferring); });
  if (!comparison.judged_on_the_way || !is_a_race(comparison)) return rows;
  column(many(comparison) ? "as good as the others after" : "as good as the other after",
         [](Run run) { return race_text(run.race); });
  if (comparison.fastica) rows.push_back(fastica_row(comparison));
  return rows;
}

std::string race_note(const Comparison& comparison) {
  if (!comparison.judged_on_the_way)
    return "Which method is as good as the other sooner: --curve judges models of earlier iterations, too.";
  if (!is_a_race(comparison)) return "Who is better is not known: give the truth (--clean, --add-noise or --truth).";
  const bool others = many(comparison);
  return fmt::format("As good as {} after: learning time until the {} is as good as {}{}.{}",
                     others ? "the others" : "the other", measure_name(comparison),
                     others ? "the best with which another method ends" : "that with which the other ends",
                     comparison.measure == Measure::free_energy
                         ? ""
                         : "; it is looked at after 0, 1, 2, 3, 5, 7, 10, 14, 20, ... iterations",
                     judging_note(comparison));
}

Json method_json(const Comparison& comparison, const MethodRun& run) {
  const IterationReport& last = run.fit.last();
  const InferenceOptions& inference = run.options.inference;
  const bool truncated = inference.method == Method::truncated;
  const std::string objective(objective_name(run.method()));
  Json json{{"method", name_of(run)},
            {"latents", run.options.latents},
            {"candidates", truncated ? Json(inference.candidates) : Json()},
            {"max_active", truncated ? Json(inference.max_active) : Json()},
            {"iterations", last.iteration},
            {"stop_reason", run.out_of_time ? "time" : to_string(run.fit.reason)},
            {"objective", objective_name(run.method())},
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
  if (comparison.measure == Measure::amari) json["amari"] = value_json(run.curve.back().quality);
  json["seconds_learning"] = run.curve.back().seconds;
  json["overran"] = comparison.overran(run.curve);
  if (run.seconds_inferring) {
    json["seconds_inferring"] = *run.seconds_inferring;
    json["seconds_judging"] = run.seconds_judging;
    json["judged_part"] = run.judged_part;
  }
  json["best_of_others"] = value_json(run.race.target);
  json["seconds_to_reach_others"] = value_json(run.race.seconds);
  json["curve"] = Json::array();
  for (const CurvePoint& point : run.curve)
    json["curve"].push_back({{"iteration", point.iteration},
                             {"seconds", point.seconds},
                             {objective, point.free_energy},
                             {"quality", value_json(point.quality)}});
  return json;
}

/// No objective, no noise, no model.
Json fastica_json(const Comparison& comparison) {
  const FasticaCourse& course = *comparison.fastica;
  const CurvePoint& last = course.curve.back();
  Json json{{"method", "fastica"},
            {"iterations", last.iteration},
            {"stop_reason", course.converged     ? "converged"
                            : course.out_of_time ? "time"
                                                 : "iterations"},
            {"amari", value_json(last.quality)},
            {"seconds_learning", last.seconds},
            {"overran", comparison.overran(course.curve)},
            {"best_of_others", value_json(course.race.target)},
            {"seconds_to_reach_others", value_json(course.race.seconds)},
            {"curve", Json::array()}};
  for (const CurvePoint& point : course.curve)
    json["curve"].push_back(
        {{"iteration", point.iteration}, {"seconds", point.seconds}, {"quality", value_json(point.quality)}});
  return json;
}

Chart::Series series_of(const std::string& name, const LearningCurve& curve, Measure measure, bool against_time) {
  Chart::Series series{name, {}, {}};
  for (const CurvePoint& point : curve) {
    const std::optional<double> value = value_of(point, measure);
    if (!value) continue;
    series.x.push_back(against_time ? point.seconds : point.iteration);
    series.y.push_back(*value);
  }
  return series;
}

/// One line per method; of objectives those methods that have the one that is called `label`.
Chart chart_of(const Comparison& comparison, Measure measure, const std::string& label, bool against_time) {
  Chart chart;
  chart.x_label = against_time ? "seconds" : "iteration";
  chart.y_label = label;
  chart.title = fmt::format("{} against {}", chart.y_label, chart.x_label);
  chart.title.front() = static_cast<char>(std::toupper(chart.title.front()));
  chart.log_x = against_time;
  std::vector<double> values;
  for (const MethodRun& run : comparison.runs) {
    if (measure == Measure::free_energy && objective_of(run) != label) continue;
    chart.series.push_back(series_of(name_of(run), run.curve, measure, against_time));
    values.insert(values.end(), chart.series.back().y.begin(), chart.series.back().y.end());
  }
  if (comparison.fastica && measure != Measure::free_energy)
    chart.series.push_back(series_of("fastica", comparison.fastica->curve, measure, against_time));
  // Without a legend nobody knows whose the only line is.
  if (chart.series.size() == 1) chart.title += ": " + chart.series.front().name;
  if (measure == Measure::free_energy && label == objective_text(Method::exact)) chart.y_from = readable_from(values);
  return chart;
}

void add_curves(Report& report, const Comparison& comparison) {
  std::vector<Chart> charts;
  if (comparison.measure != Measure::free_energy && comparison.judged_on_the_way)
    charts.push_back(chart_of(comparison, comparison.measure, measure_name(comparison), true));
  for (const std::string& objective : objectives_of(comparison))
    for (const bool against_time : {true, false})
      charts.push_back(chart_of(comparison, Measure::free_energy, objective, against_time));
  report.add_heading("Learning");
  report.add_charts(charts);
}

void add_pictures(Report& report, const Comparison& comparison, const NoisyPicture& input) {
  const auto& [noisy, clean] = input;
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
  if (const std::string overran = overrun_note(comparison); !overran.empty()) text += wrapped(overran, 0);
  return text + wrapped(race_note(comparison), 0) + wrapped(objective_note(comparison), 0);
}

Json comparison_json(const Settings& settings, const Compared& compared) {
  const Comparison& comparison = compared.comparison;
  Json json{{"command", "compare"},
            {"version", GSC_VERSION},
            {"input", settings.compare.input},
            {"seed", settings.fit.seed},
            {"threads", thread_count(settings.fit.inference.threads)},
            {"seconds", compared.seconds},
            {"seconds_each", comparison.seconds > 0 ? Json(comparison.seconds) : Json()}};
  if (compared.picture) {
    json["height"] = compared.picture->noisy.height();
    json["width"] = compared.picture->noisy.width();
    json["channels"] = compared.picture->noisy.channels.size();
    json["patch"] = comparison.patch;
  } else {
    json["data_points"] = compared.data_points;
    json["dimensions"] = compared.dimensions;
  }
  if (comparison.measure == Measure::psnr) {
    json["psnr_noisy"] = comparison.runs.front().score->psnr_noisy;
    json["ssim_noisy"] = value_json(comparison.runs.front().score->ssim_noisy);
  }
  json["measure"] = comparison.measure == Measure::psnr    ? "psnr"
                    : comparison.measure == Measure::amari ? "amari"
                                                           : "free_energy";
  json["methods"] = Json::array();
  for (const MethodRun& run : comparison.runs) json["methods"].push_back(method_json(comparison, run));
  if (comparison.fastica) json["methods"].push_back(fastica_json(comparison));
  json["options"] = shown_options(settings, compared);
  return json;
}

void write_comparison_report(const std::string& path, const Settings& settings, const Compared& compared) {
  const Comparison& comparison = compared.comparison;
  std::vector<std::string> names;
  for (const MethodRun& run : comparison.runs) names.push_back(name_of(run));
  if (comparison.fastica) names.emplace_back("fastica");
  Report report("Methods compared on " + settings.compare.input, fmt::format("{}", fmt::join(names, ", ")));
  std::vector<std::vector<std::string>> rows = table_of(comparison);
  const std::vector<std::string> header = std::move(rows.front());
  rows.erase(rows.begin());
  report.add_table(header, rows);
  for (const std::string& note : {overrun_note(comparison), race_note(comparison), objective_note(comparison)})
    if (!note.empty()) report.add_text(note);
  add_curves(report, comparison);
  if (compared.picture) add_pictures(report, comparison, *compared.picture);
  for (const MethodRun& run : comparison.runs) {
    report.add_heading("Basis functions: " + name_of(run));
    if (compared.picture)
      report.add_basis(run.fit.model(), comparison.patch, comparison.patch,
                       static_cast<Index>(compared.picture->noisy.channels.size()));
    else
      add_basis(report, run.fit.model(), drawn_shape(settings.show_basis, settings.fit.factored.shape));
  }
  add_options(report, shown_options(settings, compared));
  report.add_facts("Run", {{"version", GSC_VERSION},
                           {"seconds", fmt::format("{:.1f}", compared.seconds)},
                           {"seed", fmt::format("{}", settings.fit.seed)},
                           {"threads", fmt::format("{}", thread_count(settings.fit.inference.threads))}});
  report.write(path);
}

}  // namespace gsc::cli
