// Figure 7: what each method reaches in how much time. Separation of Speech20 and denoising of House; and denoising
// against the number of latents.

#include <fmt/format.h>
#include <gsc/metrics.h>

#include <algorithm>
#include <bit>
#include <map>

#include "benchmarks.h"
#include "denoising.h"
#include "mixtures.h"
#include "setting_words.h"
#include "tasks/denoise/plan.h"
#include "tasks/denoise/reconstruct.h"

namespace gsc::experiments {
namespace {

constexpr const char* kBenchmark = "Speech20";

class Cost final : public Experiment {
 public:
  std::string name() const override { return "cost"; }
  std::string place() const override { return "Figure 7"; }
  std::string title() const override { return "Quality against compute time and number of latents"; }
  std::vector<std::string> files() const override { return {source_file(kBenchmark), kHouse}; }
  bool side_by_side() const override { return false; }

  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    const int repetitions = request.repetitions(15, 2);
    const std::vector<int> truncations = request.quick ? std::vector{2, 5} : std::vector{2, 3, 5, 7, 10};
    const std::vector<int> iterations = request.quick ? std::vector{10, 30} : std::vector{50, 100, 1000};
    for (int i = 0; i < repetitions; ++i) {
      const std::uint64_t seed = request.seed + static_cast<std::uint64_t>(i);
      const auto separation = [&](const char* method, const char* step, int value, int count) {
        Json settings{{"part", "separation"}, {"benchmark", kBenchmark}, {"samples", "all"}, {"mixing", 0.0},
                      {"method", method},     {"iterations", count},     {"seed", seed}};
        settings[step] = value;
        all.push_back(settings);
      };
      for (const int truncation : truncations)
        separation("truncated", "truncation", truncation, request.quick ? 30 : 100);
      for (const int count : iterations) separation("factored", "iterations", count, count);
    }
    const auto house = [&](const char* part, const Json& method) {
      Json settings{{"part", part}, {"sigma", 25}, {"clipped", false}, {"seed", request.seed}};
      settings.update(method);
      all.push_back(settings);
    };
    house("time", request.quick ? paper_denoising(32, 10, 5, 8) : paper_denoising(400, 10, 5, 120));
    house("time", factored_denoising(request.quick ? 16 : 64, request.quick ? 20 : 1000));
    for (const int latents : request.quick ? std::vector{8, 16} : std::vector{64, 256, 400}) {
      house("latents", paper_denoising(latents, std::min(10, latents), 5,
                                       request.quick    ? 8
                                       : latents == 400 ? 120
                                                        : 65));
      house("latents", factored_denoising(latents, request.quick ? 8 : 120));
    }
    return all;
  }

  Json run(const Json& settings, const Request& request) const override {
    const Json& part = settings.at("part");
    if (part == "separation") return run_separation(settings, request);
    if (part == "time" || part == "latents") return denoising(settings, request);
    throw Error("part is " + part.dump() + "; expected one of: separation, time, latents");
  }

  Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const override {
    Summary summary;
    report.add_text(
        "Learning time only, one run after the other on the same cores. Lower is better for the Amari index, higher "
        "for PSNR.");
    add_amari_note(request, report);
    report.add_charts({separation_chart(trials, request, summary), time_chart(trials, request, summary),
                       latents_chart(trials, request, summary)});
    separation_table(summary.figures["separation"], request, report);
    latents_table(summary.figures["latents"], report);
    return summary;
  }

 private:
  /// After 0, 1, 2, 3, and 5, 7 and their doubles 10, 14, 20, 28, ... iterations: often enough where learning is fast.
  static bool is_judged(int iteration) {
    const auto t = static_cast<unsigned>(iteration);
    return t <= 3 || (t % 5 == 0 && std::has_single_bit(t / 5)) || (t % 7 == 0 && std::has_single_bit(t / 7));
  }

  /// Keeps those that are judged.
  class ModelsOnTheWay final : public Watcher {
   public:
    ModelsOnTheWay(bool wanted, std::map<int, Model>& models) : wanted_(wanted), models_(models) {}
    void on_progress(const Progress& now) override {
      if (wanted_ && now.state != nullptr && is_judged(now.state->history.back().iteration))
        models_[now.state->history.back().iteration] = now.state->model;
    }

   private:
    bool wanted_;
    std::map<int, Model>& models_;
  };

  static Json denoising(const Json& settings, const Request& request) {
    const Picture clean = benchmark_picture(request), noisy = noisy_picture(clean, settings);
    DenoiseOptions options = denoise_options(settings);
    options.learning.inference.threads = request.threads;
    const bool with_curve = settings["part"] == "time";
    options.models = 1;
    options.validate();
    DenoisePlan plan = plan_denoising(noisy, options, {.std = estimate_noise(noisy)});
    plan.coarse.clear();
    std::map<int, Model> models;  // by iteration
    ModelsOnTheWay watch(with_curve, models);
    const Denoised denoised = denoise_as_planned(noisy, plan, &watch);
    const FitResult& fit = denoised.learned[0].fit;
    const double reached = psnr(clean, denoised.picture, clean.peak());
    Json result{{"psnr", reached}, {"seconds", fit.seconds}};
    double seconds = 0;
    for (const IterationReport& row : fit.state.history) {
      seconds += row.seconds;
      const bool last = row.iteration == fit.last().iteration;
      if (!with_curve || !(seconds > 0) || !(last || models.contains(row.iteration))) continue;
      result["curve_seconds"].push_back(seconds);
      result["curve_psnr"].push_back(
          last ? reached
               : psnr(clean, reconstruct(noisy, models[row.iteration], plan.models[0]).picture, clean.peak()));
    }
    return result;
  }

  static void separation_table(const Json& figures, const Request& request, Report& report) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& figure : figures) {
      const bool factored = word<Method>(figure, "method") == Method::factored;
      const int step = figure[factored ? "iterations" : "truncation"];
      const Json& amari = figure["amari"];
      rows.push_back(
          {factored ? fmt::format("factored, {} iterations", step) : fmt::format("truncated, H' = gamma = {}", step),
           fmt::format("{:.3f} ± {:.3f}", amari["mean"].get<double>(), amari["error"].get<double>()),
           std::to_string(amari["undefined"].get<int>()), fmt::format("{:.2f}", figure["seconds"].get<double>())});
    }
    report.add_table({shown_name(request, kBenchmark), "Amari index", "trials without", "seconds"}, rows);
  }

  static void latents_table(const Json& figures, Report& report) {
    std::vector<std::vector<std::string>> rows;
    for (const Json& figure : figures)
      rows.push_back({figure["method"], std::to_string(figure["latents"].get<int>()),
                      fmt::format("{:.2f}", figure["psnr"].get<double>()),
                      fmt::format("{:.1f}", figure["seconds"].get<double>())});
    report.add_table({"House", "H", "PSNR in dB", "seconds"}, rows);
  }

  static Chart separation_chart(const std::vector<Finished>& trials, const Request& request, Summary& summary) {
    Chart chart{.title = shown_name(request, kBenchmark) + ", orthogonal mixing",
                .x_label = "seconds",
                .y_label = "Amari index",
                .log_x = true,
                .y_from = 0.0};
    double lowest[2] = {1, 1};
    for (const Method method : {Method::truncated, Method::factored}) {
      const bool factored = method == Method::factored;
      Chart::Series series{factored ? "factored, more iterations" : "truncated, larger H' = gamma", {}, {}};
      Json where{{"part", "separation"}, {"method", std::string(to_string(method))}};
      std::vector<Json> steps;
      const char* step = factored ? "iterations" : "truncation";
      for (const Finished& trial : trials)
        if (trial.settings["part"] == "separation" && trial.settings["method"] == where["method"] &&
            std::find(steps.begin(), steps.end(), trial.settings[step]) == steps.end())
          steps.push_back(trial.settings[step]);
      for (const Json& value : steps) {
        where[step] = value;
        const AmariSpread amari = amari_spread(trials, where);
        const Spread seconds = spread_of(trials, where, "seconds");
        add_point(series, seconds.mean, amari.fair);
        lowest[factored] = std::min(lowest[factored], amari.fair.mean);
        summary.figures["separation"].push_back(
            {{"method", where["method"]}, {step, value}, {"amari", json_of(amari)}, {"seconds", seconds.mean}});
      }
      chart.series.push_back(series);
    }
    summary.claims.push_back({fmt::format("On {} the truncated method ends below the factored one (lowest mean "
                                          "Amari index {:.3f} against {:.3f})",
                                          shown_name(request, kBenchmark), lowest[0], lowest[1]),
                              lowest[0] < lowest[1], InQuick::needs_data});
    return chart;
  }

  static Chart time_chart(const std::vector<Finished>& trials, const Request& request, Summary& summary) {
    Chart chart{.title = shown_picture(request) + ", sigma 25, against time",
                .x_label = "seconds",
                .y_label = "PSNR in dB",
                .log_x = true};
    double last[2] = {0, 0};
    for (const Finished& trial : trials) {
      if (trial.settings["part"] != "time") continue;
      const auto method = word<Method>(trial.settings, "method");
      chart.series.push_back({fmt::format("{}, H = {}", to_string(method), trial.settings["latents"].get<int>()),
                              trial.result["curve_psnr"].get<std::vector<double>>(),
                              trial.result["curve_seconds"].get<std::vector<double>>()});
      last[method == Method::factored] = trial.result["psnr"];
      summary.figures["time"].push_back({{"settings", trial.settings}, {"result", trial.result}});
    }
    chart.y_from = std::max(last[0], last[1]) - 4;  // the first iterations are far below
    summary.claims.push_back(
        {fmt::format("On {} the truncated method ends above the factored one ({:.2f} against {:.2f} dB)",
                     shown_picture(request), last[0], last[1]),
         last[0] > last[1], InQuick::needs_data});
    return chart;
  }

  static Chart latents_chart(const std::vector<Finished>& trials, const Request& request, Summary& summary) {
    Chart chart{.title = shown_picture(request) + ", sigma 25, against latents",
                .x_label = "latents H",
                .y_label = "PSNR in dB"};
    for (const Method method : {Method::truncated, Method::factored}) {
      const std::string called(to_string(method));
      Chart::Series series{called, {}, {}};
      for (const Finished& trial : trials) {
        if (trial.settings["part"] != "latents" || trial.settings["method"] != called) continue;
        series.x.push_back(trial.settings["latents"]);
        series.y.push_back(trial.result["psnr"]);
        summary.figures["latents"].push_back({{"method", called},
                                              {"latents", trial.settings["latents"]},
                                              {"psnr", trial.result["psnr"]},
                                              {"seconds", trial.result["seconds"]}});
      }
      if (method == Method::truncated)
        summary.claims.push_back({"The truncated method gains from more latents", series.y.back() > series.y.front()});
      chart.series.push_back(series);
    }
    return chart;
  }
};

}  // namespace

std::unique_ptr<Experiment> cost() { return std::make_unique<Cost>(); }

}  // namespace gsc::experiments
