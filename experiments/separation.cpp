// Figures 5 and 6, and the appendix's figure of separation with noise: how well mixing matrices are found that are less
// and less orthogonal. Posteriors of the factored method have no correlations, and those come with such mixing.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "benchmarks.h"
#include "mixtures.h"

namespace gsc::experiments {
namespace {

const std::vector<std::string> kMethods = {"truncated", "factored"};

class Separation final : public Experiment {
 public:
  explicit Separation(double noise) : noise_(noise) {}
  std::string name() const override { return noise_ > 0 ? "separation-noisy" : "separation"; }
  std::string place() const override { return noise_ > 0 ? "Figures 6 and 12" : "Figure 5"; }
  std::string title() const override {
    return noise_ > 0 ? "Separation of noisy mixtures" : "Separation against orthogonality of the mixing";
  }
  std::vector<std::string> files() const override {
    return {source_file("10halo"), source_file("EEG19"), source_file("Speech20")};
  }

  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    for (const std::string& benchmark : benchmarks(request))
      for (const double mixing : mixings(request))
        for (const std::string& method : kMethods)
          for (int i = 0; i < request.repetitions(15, 2); ++i)
            all.push_back({{"benchmark", benchmark},
                           {"samples", "all"},
                           {"mixing", mixing},
                           {"noise", noise_},
                           {"method", method},
                           {"truncation", 10},
                           {"iterations", 100},
                           {"seed", request.seed + static_cast<std::uint64_t>(i)}});
    return all;
  }

  Json run(const Json& settings, const Request& request) const override { return run_separation(settings, request); }

  Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const override {
    Summary summary;
    report.add_text(fmt::format(
        "All samples of each benchmark are mixed with a random matrix: orthogonal (0), or orthogonal plus N(0, sigma) "
        "in every entry. {} The truncated method has H' = gamma = 10, which for 10halo is exact. Both start at random "
        "and run for the same number of iterations, with one noise variance for all channels. The mixture is divided "
        "by one number, so that its mean variance is 1: units matter to random starts. The paper shows curves only, so "
        "there are no published values.",
        noise_ > 0 ? fmt::format("Noise N(0, {}) is added to the mixture.", noise_) : "No noise is added."));
    add_amari_note(request, report);
    std::vector<Chart> charts;
    std::vector<std::vector<std::string>> rows;
    for (const std::string& benchmark : benchmarks(request)) {
      Chart chart{.title = shown_name(request, benchmark),
                  .x_label = "sigma of the mixing (0: orthogonal)",
                  .y_label = "Amari index",
                  .y_from = 0.0};
      for (const std::string& method : kMethods) {
        Chart::Series series{method, {}, {}};
        for (const double mixing : mixings(request)) {
          const Json where{{"benchmark", benchmark}, {"method", method}, {"mixing", mixing}};
          const AmariSpread amari = amari_spread(trials, where);
          const Spread energy = spread_of(trials, where, "free_energy"), seconds = spread_of(trials, where, "seconds");
          add_point(series, mixing, amari.fair);
          summary.figures.push_back({{"benchmark", benchmark},
                                     {"mixing", mixing},
                                     {"method", method},
                                     {"amari", json_of(amari)},
                                     {"free_energy", json_of(energy)},
                                     {"seconds", json_of(seconds)}});
        }
        chart.series.push_back(series);
      }
      charts.push_back(chart);
      for (const double mixing : mixings(request)) rows.push_back(comparison(trials, request, benchmark, mixing));
      // With noise the paper claims it for Speech20 only.
      if (benchmark == "Speech20" || (benchmark == "10halo" && noise_ == 0))
        for (const bool orthogonal : {false, true}) summary.claims.push_back(better_claim(chart, orthogonal));
      if (benchmark == "Speech20" && noise_ > 0) summary.claims.push_back(trend_claim(chart));
      if (benchmark != "EEG19")
        summary.claims.push_back(noise_ > 0 ? noise_claim(trials, request, benchmark) : found_claim(chart));
    }
    report.add_charts(charts);
    report.add_text(
        "Difference: truncated less factored, mean over the trials in which both have an index and its standard error; "
        "both had the same mixing matrix and data in a trial.");
    report.add_table({"data", "mixing", "Amari index, truncated", "factored", "difference", "truncated better in",
                      "seconds, truncated", "factored"},
                     rows);
    return summary;
  }

 private:
  static std::vector<std::string> benchmarks(const Request& request) {
    if (request.quick) return {"Speech20"};  // all have the same stand-in
    return {"10halo", "EEG19", "Speech20"};
  }
  static std::vector<double> mixings(const Request& request) {
    return request.quick ? std::vector<double>{0, 10} : std::vector<double>{0, 4, 10, 20};
  }

  /// A row of the table.
  static std::vector<std::string> comparison(const std::vector<Finished>& trials, const Request& request,
                                             const std::string& benchmark, double mixing) {
    const Json both{{"benchmark", benchmark}, {"mixing", mixing}};
    Json truncated = both, factored = both;
    truncated["method"] = "truncated";
    factored["method"] = "factored";
    const std::vector<double> differences = paired_differences(trials, truncated, factored, "amari");
    const auto better = std::count_if(differences.begin(), differences.end(), [](double d) { return d < 0; });
    const auto seconds = [&](const Json& where) {
      return fmt::format("{:.2f}", spread_of(trials, where, "seconds").mean);
    };
    const Spread difference = spread_of(differences);
    return {shown_name(request, benchmark),
            mixing == 0 ? "orthogonal" : fmt::format("sigma {}", mixing),
            text_of(amari_spread(trials, truncated)),
            text_of(amari_spread(trials, factored)),
            fmt::format("{:+.3f} ± {:.3f}", difference.mean, difference.error),
            fmt::format("{} of {}", better, difference.count),
            seconds(truncated),
            seconds(factored)};
  }

  /// The two curves of a chart, where the mixing is orthogonal or where it is not.
  static Claim better_claim(const Chart& chart, bool orthogonal) {
    double means[2] = {0, 0};
    for (std::size_t m = 0; m < 2; ++m) {
      const std::vector<double>& y = chart.series[m].y;
      means[m] = orthogonal ? y[0] : std::accumulate(y.begin() + 1, y.end(), 0.0) / static_cast<double>(y.size() - 1);
    }
    return {
        fmt::format("{}, {} mixing: truncated is at least as good as factored (mean Amari index {:.3f} against {:.3f})",
                    chart.title, orthogonal ? "orthogonal" : "non-orthogonal", means[0], means[1]),
        means[0] <= means[1], InQuick::needs_data};
  }

  /// With orthogonal mixing the noise is stronger than the sources.
  static Claim trend_claim(const Chart& chart) {
    const std::vector<double>& truncated = chart.series[0].y;
    return {fmt::format("{} with noise: truncated gets better as the mixing gets less orthogonal (Amari index {:.3f} "
                        "at sigma {}, {:.3f} orthogonal)",
                        chart.title, truncated.back(), chart.series[0].x.back(), truncated.front()),
            truncated.back() < truncated.front(), InQuick::needs_data};
  }

  /// Sparse sources, mixed orthogonally and without noise, are the case that both methods must master.
  static Claim found_claim(const Chart& chart) {
    constexpr double kFound = 0.2;
    const double highest = std::max(chart.series[0].y[0], chart.series[1].y[0]);
    return {
        fmt::format("{}, orthogonal mixing: both methods find the directions (mean Amari index at most {}; {:.3f} or "
                    "less here)",
                    chart.title, kFound, highest),
        highest <= kFound};
  }

  /// The mixture has a mean variance of 1, and of that the noise has the less the stronger the mixing is.
  static Claim noise_claim(const std::vector<Finished>& trials, const Request& request, const std::string& benchmark) {
    double largest = 0;
    for (const std::string& method : kMethods) {
      const auto level = [&](double mixing) {
        return spread_of(trials, {{"benchmark", benchmark}, {"method", method}, {"mixing", mixing}}, "noise_std").mean;
      };
      largest = std::max(largest, level(mixings(request).back()) / level(0));
    }
    return {fmt::format("{} with noise: the noise that both methods learn at sigma {} is less than two thirds of that "
                        "with orthogonal mixing, where it is stronger than the sources ({:.2f} or less)",
                        shown_name(request, benchmark), mixings(request).back(), largest),
            largest < 2.0 / 3};
  }

  double noise_;
};

}  // namespace

std::unique_ptr<Experiment> separation() { return std::make_unique<Separation>(0); }
std::unique_ptr<Experiment> separation_noisy() { return std::make_unique<Separation>(2); }

}  // namespace gsc::experiments
