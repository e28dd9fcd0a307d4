// Appendix B: what is lost and what is saved with fewer candidates, H' = gamma from 10 down to 1.

#include <fmt/format.h>

#include "benchmarks.h"
#include "mixtures.h"

namespace gsc::experiments {
namespace {

constexpr int kFull = 10;  ///< what times are divided by
constexpr int kSmall = 5;  ///< what the claims are about

std::vector<std::string> benchmarks(const Request& request) {
  if (request.quick) return {"Speech20"};  // all have the same stand-in
  return {"10halo", "EEG19", "Speech20"};
}
std::vector<int> truncations(const Request& request) {
  return request.quick ? std::vector{1, 2, kSmall, kFull} : std::vector{1, 2, 3, 4, kSmall, 6, 7, 8, 9, kFull};
}

class Truncation final : public Experiment {
 public:
  std::string name() const override { return "truncation"; }
  std::string place() const override { return "Figure 9 (Appendix B)"; }
  std::string title() const override { return "Quality and time against truncation"; }
  std::vector<std::string> files() const override {
    return {source_file("10halo"), source_file("EEG19"), source_file("Speech20")};
  }
  bool side_by_side() const override { return false; }

  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    for (int i = 0; i < request.repetitions(5, 3); ++i)
      for (const std::string& benchmark : benchmarks(request))
        for (const int truncation : truncations(request))
          all.push_back({{"benchmark", benchmark},
                         {"samples", "all"},
                         {"mixing", 0.0},
                         {"method", "truncated"},
                         {"truncation", truncation},
                         {"iterations", request.quick ? 50 : 100},
                         {"threads", 1},
                         {"seed", request.seed + static_cast<std::uint64_t>(i)}});
    return all;
  }

  Json run(const Json& settings, const Request& request) const override { return run_separation(settings, request); }

  Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const override {
    Summary summary;
    report.add_text(
        "Separation with orthogonal mixing and no noise, all samples, the same starts for every H' = gamma. Times are "
        "of learning on one thread, median over trials, divided by that for H' = gamma = 10. The paper shows curves "
        "only, so there are no published values.");
    add_amari_note(request, report);
    Chart quality{.title = "Quality", .x_label = "H' = gamma", .y_label = "Amari index", .y_from = 0.0};
    Chart time{.title = "Time", .x_label = "H' = gamma", .y_label = "time / time for 10", .y_from = 0.0};
    std::vector<std::vector<std::string>> rows;
    for (const std::string& benchmark : benchmarks(request)) {
      const std::string name = shown_name(request, benchmark);
      const Json full{{"benchmark", benchmark}, {"truncation", kFull}};
      const double full_amari = amari_spread(trials, full).fair.mean;
      const double full_seconds = spread_of(trials, full, "seconds").median;
      Chart::Series amari_series{name, {}, {}}, time_series{name, {}, {}};
      for (const int truncation : truncations(request)) {
        const Json where{{"benchmark", benchmark}, {"truncation", truncation}};
        const AmariSpread amari = amari_spread(trials, where);
        const double seconds = spread_of(trials, where, "seconds").median, share = seconds / full_seconds;
        add_point(amari_series, truncation, amari.fair);
        time_series.x.push_back(truncation);
        time_series.y.push_back(share);
        rows.push_back({name, std::to_string(truncation), text_of(amari), fmt::format("{:.3f}", seconds),
                        fmt::format("{:.3f}", share)});
        summary.figures.push_back({{"benchmark", benchmark},
                                   {"truncation", truncation},
                                   {"amari", json_of(amari)},
                                   {"seconds", seconds},
                                   {"time_share", share}});
        if (truncation != kSmall) continue;
        const Spread loss = spread_of(paired_differences(trials, where, full, "amari"));
        summary.figures.back()["amari_less_that_of_10"] = json_of(loss);
        summary.claims.push_back(
            {fmt::format("{}: H' = gamma = {} is nearly as good as {} (Amari index {:.3f} against {:.3f}; at most 0.05 "
                         "more; paired difference {:+.3f} ± {:.3f})",
                         name, kSmall, kFull, amari.fair.mean, full_amari, loss.mean, loss.error),
             amari.fair.mean <= full_amari + 0.05, InQuick::needs_data});
        summary.claims.push_back({fmt::format("{}: it takes less than half the time ({:.2f})", name, share),
                                  share < 0.5, InQuick::may_fail});
      }
      quality.series.push_back(amari_series);
      time.series.push_back(time_series);
    }
    report.add_charts({quality, time});
    report.add_table({"data", "H' = gamma", "Amari index", "seconds", "time / time for 10"}, rows);
    return summary;
  }
};

}  // namespace

std::unique_ptr<Experiment> truncation() { return std::make_unique<Truncation>(); }

}  // namespace gsc::experiments
