// Appendix B: time of an EM iteration against the number of latents, H' and gamma fixed.

#include <fmt/format.h>
#include <gsc/fit.h>

#include <cmath>

#include "setting_words.h"
#include "sparse_data.h"
#include "statistics.h"

namespace gsc::experiments {
namespace {

constexpr Index kDimensions = 64;
constexpr Index kGenerating = 256;  ///< latents of the model that the data comes from
constexpr int kFrom = 64;           ///< from here on the cost of selection, which grows with H, is what counts
const std::vector<std::string> kSelections = {"singleton", "conditional"};

std::vector<int> latents(const Request& request) {
  return request.quick ? std::vector{16, 64, 256} : std::vector{16, 32, 64, 128, 256, 512, 1024};
}

class Scaling final : public Experiment {
 public:
  std::string name() const override { return "scaling"; }
  std::string place() const override { return "Figure 10 (Appendix B)"; }
  std::string title() const override { return "Time of an iteration against the number of latents"; }
  bool side_by_side() const override { return false; }

  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    // Repetitions outermost: what else the machine does meanwhile then falls on all H alike.
    for (int i = 0; i < request.repetitions(3, 2); ++i)
      for (const std::string& selection : kSelections)
        for (const int h : latents(request))
          all.push_back({{"latents", h},
                         {"dimensions", kDimensions},
                         {"points", request.quick ? 2000 : 20000},
                         {"candidates", 10},
                         {"max_active", 5},
                         {"selection", selection},
                         {"iterations", 6},
                         {"threads", 1},
                         {"seed", request.seed + static_cast<std::uint64_t>(i)}});
    return all;
  }

  Json run(const Json& settings, const Request& /*request*/) const override {
    Random random(settings["seed"].get<std::uint64_t>());
    // Like picture patches: sparse, overcomplete, noise as strong as a component.
    const MatrixData data(sparse_data({kDimensions, kGenerating, 4, 0.5}, settings["points"], random));
    FitOptions options;
    options.intercept = Intercept::none;
    options.latents = settings["latents"];
    options.inference.candidates = settings["candidates"];
    options.inference.max_active = settings["max_active"];
    options.inference.selection = word<Selection>(settings, "selection");
    options.inference.threads = settings["threads"];
    options.iterations = settings["iterations"];
    options.tolerance = 0;
    options.seed = random();
    const FitResult fit = gsc::fit(data, options);
    std::vector<double> seconds;  // row 0 has no M-step, row 1 meets cold caches
    for (std::size_t row = 2; row < fit.state.history.size(); ++row) seconds.push_back(fit.state.history[row].seconds);
    return {{"seconds_per_iteration", spread_of(seconds).median}};
  }

  Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const override {
    Summary summary;
    const Json& settings = trials.front().settings;
    report.add_text(fmt::format(
        "One EM iteration with H' = {} and gamma = {}, {} data points of {} dimensions drawn from a sparse model with "
        "{} latents, one thread: median over iterations, then over trials. Singleton is the paper's selection, "
        "conditional the program's default. The paper shows a curve only: in the end close to linear.",
        settings["candidates"].get<int>(), settings["max_active"].get<int>(), settings["points"].get<int>(),
        kDimensions, kGenerating));
    Chart chart{
        .title = "Time of an EM iteration", .x_label = "latents H", .y_label = "seconds", .log_x = true, .log_y = true};
    std::vector<std::vector<std::string>> rows;
    for (const std::string& selection : kSelections) {
      Chart::Series series{selection, {}, {}};
      for (const int h : latents(request)) {
        const double seconds =
            spread_of(trials, {{"selection", selection}, {"latents", h}}, "seconds_per_iteration").median;
        series.x.push_back(h);
        series.y.push_back(seconds);
        rows.push_back({selection, std::to_string(h), fmt::format("{:.4f}", seconds),
                        fmt::format("{:.2f}", seconds / series.y.front())});
        summary.figures["curves"].push_back({{"selection", selection}, {"latents", h}, {"seconds", seconds}});
      }
      add_claim(series, selection, summary);
      chart.series.push_back(series);
    }
    Chart::Series linear{.name = "linear", .y = {}, .x = chart.series[0].x, .reference = true};
    for (const double h : linear.x) linear.y.push_back(chart.series[0].y.back() * h / linear.x.back());
    chart.series.push_back(linear);
    report.add_charts({chart});
    report.add_table({"selection", "latents", "seconds", fmt::format("relative to H = {}", latents(request).front())},
                     rows);
    return summary;
  }

 private:
  static void add_claim(const Chart::Series& series, const std::string& selection, Summary& summary) {
    std::size_t from = 0;
    while (series.x[from] < kFrom) ++from;
    const double more = series.x.back() / series.x[from], slower = series.y.back() / series.y[from];
    const double slope = std::log(slower) / std::log(more);
    summary.figures["slopes"].push_back({{"selection", selection},
                                         {"from", series.x[from]},
                                         {"to", series.x.back()},
                                         {"time_ratio", slower},
                                         {"log_log_slope", slope}});
    summary.claims.push_back({fmt::format("{}: time grows at most linearly with H ({:.1f} times as long for {:.0f} "
                                          "times as many latents from H = {:.0f}; slope {:.2f} in the log-log plot)",
                                          selection, slower, more, series.x[from], slope),
                              slower <= 1.1 * more, InQuick::may_fail});
  }
};

}  // namespace

std::unique_ptr<Experiment> scaling() { return std::make_unique<Scaling>(); }

}  // namespace gsc::experiments
