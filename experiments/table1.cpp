// Table 1: separation of few consecutive samples, orthogonal mixing, no noise.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "benchmarks.h"
#include "mixtures.h"

namespace gsc::experiments {
namespace {

/// A column of the table. A further method is a further line here (and in mixtures.cpp, if separate() does not have
/// it).
struct Column {
  std::string name, method;
  int starts, iterations;
  bool at_all_offsets = true;  ///< those that take most of the time: at the first only
};
const std::vector<Column>& columns(const Request& request) {
  static const std::vector<Column> full = {{"exact", "exact", 1, 350},
                                           {"factored", "factored", 1, 300},
                                           {"exact, best of 10 starts", "exact", 10, 350, false},
                                           {"gsc separate", kUsualSeparation, 10, 350, false},
                                           {"FastICA", "fastica", 1, 1000},
                                           {"online", "online", 1, 300, false},
                                           {"feature-sign", "feature-sign", 1, 300, false}};
  static const std::vector<Column> quick = {{"exact", "exact", 1, 50},
                                            {"factored", "factored", 1, 50},
                                            {"exact, best of 3 starts", "exact", 3, 50, false},
                                            {"gsc separate", kUsualSeparation, 3, 50, false},
                                            {"FastICA", "fastica", 1, 1000},
                                            {"online", "online", 1, 50, false},
                                            {"feature-sign", "feature-sign", 1, 50, false}};
  return request.quick ? quick : full;
}
/// What the paper calls the columns of its table; published.json has our words for the methods that are here.
std::string published_name(const std::string& column) {
  return column == "exact" ? "GSC" : column == "factored" ? "MTMKL" : column;
}
const std::vector<std::string> kBenchmarks = {"10halo", "Sergio7", "Speech4", "c5signals"};
const std::vector<int> kSamples = {200, 500};
/// Mean Amari index of scikit-learn's FastICA (symmetric, tanh) from offset 0, other mixings.
struct FasticaElsewhere {
  std::string benchmark;
  double of_200, of_500;
};
const std::vector<FasticaElsewhere> kFasticaElsewhere = {
    {"10halo", 0.34, 0.146}, {"Sergio7", 0.065, 0.028}, {"Speech4", 0.175, 0.068}, {"c5signals", 0.096, 0.071}};

std::vector<int> offsets(const Request& request) {
  return request.quick ? std::vector{0, 500} : std::vector{0, 500, 1000, 2000};
}
std::vector<std::string> benchmarks(const Request& request) {
  return request.quick ? std::vector<std::string>{"Sergio7", "Speech4"} : kBenchmarks;
}

class Table1 final : public Experiment {
 public:
  std::string name() const override { return "table1"; }
  std::string place() const override { return "Table 1"; }
  std::string title() const override { return "Separation of few samples"; }
  std::vector<std::string> files() const override {
    std::vector<std::string> all;
    for (const std::string& benchmark : kBenchmarks) all.push_back(source_file(benchmark));
    return all;
  }

  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    for (const int offset : offsets(request))  // the paper's table first
      for (const std::string& benchmark : benchmarks(request))
        for (const int samples : kSamples)
          for (const Column& column : columns(request)) {
            if (offset != 0 && !column.at_all_offsets) continue;
            for (int i = 0; i < request.repetitions(50, 3); ++i)
              all.push_back({{"benchmark", benchmark},
                             {"offset", offset},
                             {"samples", samples},
                             {"mixing", 0.0},
                             {"column", column.name},
                             {"method", column.method},
                             {"starts", column.starts},
                             {"iterations", column.iterations},
                             {"seed", request.seed + static_cast<std::uint64_t>(i)}});
          }
    return all;
  }

  Json run(const Json& settings, const Request& request) const override { return run_separation(settings, request); }

  Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const override {
    Summary summary;
    report.add_text(
        "Consecutive samples of each benchmark, mixed with a new random orthogonal matrix in each trial; random "
        "starts; one noise variance. The paper's own method is exact inference here: there are at most ten sources, "
        "and nothing is truncated. The paper takes the samples 'after an offset' that it does not state: the first "
        "table is with offset 0, the second shows others, for the methods that take little time. The mixture is "
        "divided by one number, so that its mean variance is 1. 'Best of' takes the start with the highest free "
        "energy. 'gsc separate' is what the program does by itself: whitened channels, an intercept, the first of "
        "its starts from FastICA. FastICA: symmetric, tanh. Published: GSC is exact inference here, MTMKL the "
        "factored method, SPAMS online and ESCA feature-sign, which learn a dictionary with the usual weight of the "
        "lasso, where the paper chose it by cross-validation.");
    add_amari_note(request, report);
    report.add_heading("Offset 0");
    offset_0(trials, request, report);
    report.add_heading("Other offsets");
    other_offsets(trials, request, report, summary);
    claims(trials, request, summary);
    return summary;
  }

 private:
  static AmariSpread amari(const std::vector<Finished>& trials, const std::string& benchmark, int samples,
                           const std::string& column, std::optional<int> offset) {
    Json where{{"benchmark", benchmark}, {"samples", samples}, {"column", column}};
    if (offset) where["offset"] = *offset;
    return amari_spread(trials, where);
  }

  /// The row of the published table; null in the quick version, whose data is another.
  static Json published_row(const Request& request, const std::string& benchmark, int samples) {
    if (!request.quick)
      for (const Json& row : published("table1")["rows"])
        if (row["data"] == benchmark && row["samples"] == samples) return row;
    return nullptr;
  }

  static void offset_0(const std::vector<Finished>& trials, const Request& request, Report& report) {
    std::vector<std::string> header{"data", "N"};
    for (const Column& column : columns(request)) header.push_back(column.name);
    if (!request.quick)
      for (const Json& column : published("table1")["columns"]) header.push_back("published " + published_name(column));
    std::vector<std::vector<std::string>> rows;
    for (const std::string& benchmark : benchmarks(request))
      for (const int samples : kSamples) {
        rows.push_back({shown_name(request, benchmark), std::to_string(samples)});
        for (const Column& column : columns(request))
          rows.back().push_back(text_of(amari(trials, benchmark, samples, column.name, 0)));
        const Json row = published_row(request, benchmark, samples);
        for (std::size_t i = 0; row.is_object() && i < row["mean"].size(); ++i)
          rows.back().push_back(
              fmt::format("{:.2f} ({:.2f})", row["mean"][i].get<double>(), row["std"][i].get<double>()));
      }
    report.add_table(header, rows);
  }

  static void other_offsets(const std::vector<Finished>& trials, const Request& request, Report& report,
                            Summary& summary) {
    std::vector<std::string> header{"data", "N", "method"};
    for (const int offset : offsets(request)) header.push_back(fmt::format("offset {}", offset));
    header.insert(header.end(), {"offset of the lowest mean", "all offsets"});
    std::vector<std::vector<std::string>> rows;
    for (const std::string& benchmark : benchmarks(request))
      for (const int samples : kSamples)
        for (const Column& column : columns(request)) {
          Json figure{{"benchmark", benchmark}, {"samples", samples}, {"column", column.name}};
          rows.push_back({shown_name(request, benchmark), std::to_string(samples), column.name});
          int of_lowest = -1;
          double lowest = 2;
          for (const int offset : offsets(request)) {
            if (offset != 0 && !column.at_all_offsets) {
              rows.back().push_back("-");
              continue;
            }
            const AmariSpread here = amari(trials, benchmark, samples, column.name, offset);
            rows.back().push_back(text_of(here));
            figure["offsets"].push_back({{"offset", offset}, {"amari", json_of(here)}});
            if (here.fair.mean < lowest) lowest = here.fair.mean, of_lowest = offset;
          }
          if (column.at_all_offsets) {
            const AmariSpread all = amari(trials, benchmark, samples, column.name, {});
            rows.back().insert(rows.back().end(), {std::to_string(of_lowest), text_of(all)});
            figure["offset_of_lowest_mean"] = of_lowest;
            figure["all_offsets"] = json_of(all);
          } else {
            rows.back().insert(rows.back().end(), {"-", "-"});
          }
          figure["published"] = published_row(request, benchmark, samples);
          summary.figures.push_back(figure);
        }
    report.add_table(header, rows);
  }

  static void claims(const std::vector<Finished>& trials, const Request& request, Summary& summary) {
    static constexpr std::array kToday = {"gsc separate", "FastICA"};
    int better = 0, settings = 0, reached = 0, compared = 0, long_ones = 0;
    std::array<int, kToday.size()> beaten{};
    double worst = 0;
    for (const std::string& benchmark : benchmarks(request))
      for (const int samples : kSamples) {
        const auto at = [&](const char* column, std::optional<int> offset) {
          return amari(trials, benchmark, samples, column, offset).fair.mean;
        };
        if (samples == 500) {
          ++settings;
          better += at("exact", {}) <= at("factored", {}) ? 1 : 0;
          if (benchmark != "c5signals") worst = std::max(worst, at("exact", {}));
        }
        const Json row = published_row(request, benchmark, samples);
        if (!row.is_object()) continue;
        ++compared;
        if (samples == 500) {
          const auto published_best = std::min_element(row["mean"].begin(), row["mean"].end())->get<double>();
          ++long_ones;
          for (std::size_t i = 0; i < kToday.size(); ++i) beaten[i] += at(kToday[i], 0) < published_best ? 1 : 0;
        }
        double lowest = 2;
        for (const int offset : offsets(request)) lowest = std::min(lowest, at("exact", offset));
        reached += lowest <= row["mean"][0].get<double>() + row["std"][0].get<double>() ? 1 : 0;
      }
    summary.claims.push_back(
        {fmt::format("With 500 samples exact inference is at least as good as factored on every data "
                     "set, mean over offsets ({} of {})",
                     better, settings),
         better == settings, InQuick::needs_data});
    summary.claims.push_back(
        {fmt::format("With 500 samples exact inference finds the directions: mean Amari index at most "
                     "0.25, but for c5signals, whose sources are not sparse (worst {:.3f})",
                     worst),
         worst <= 0.25});
    if (compared > 0)
      summary.claims.push_back(
          {fmt::format("Exact inference, at the offset with its lowest mean, comes within a published standard "
                       "deviation of the published mean, or below ({} of {})",
                       reached, compared),
           reached == compared});
    for (std::size_t i = 0; i < kToday.size() && long_ones > 0; ++i)
      summary.claims.push_back({fmt::format("With 500 samples from offset 0 {} is better than every published column "
                                            "({} of {})",
                                            kToday[i], beaten[i], long_ones),
                                beaten[i] == long_ones});
    for (const auto& [benchmark, of_200, of_500] : kFasticaElsewhere)
      for (const int samples : kSamples) {
        if (!published_row(request, benchmark, samples).is_object()) continue;
        const double there = samples == 200 ? of_200 : of_500;
        const double here = amari(trials, benchmark, samples, "FastICA", 0).fair.mean;
        summary.claims.push_back(
            {fmt::format("{} samples of {}: FastICA is as measured elsewhere, or better ({:.3f}; {:.3f} within 0.03)",
                         samples, benchmark, here, there),
             here < there + 0.03});
      }
  }
};

}  // namespace

std::unique_ptr<Experiment> table1() { return std::make_unique<Table1>(); }

}  // namespace gsc::experiments
