// Figure 2: where the exact posterior has its mass, by latent and by number of active latents. Speech (10halo).

#include <fmt/format.h>
#include <gsc/generate.h>
#include <gsc/inference.h>
#include <gsc/metrics.h>

#include <algorithm>
#include <numeric>

#include "benchmarks.h"
#include "mixtures.h"
#include "setting_words.h"

namespace gsc::experiments {
namespace {

constexpr int kFew = 4;  // "subspaces with i > 4 can be neglected"

Index sample_count(const Request& request) { return request.quick ? 1000 : 6000; }

/// P(|s| = i), i = 0..H, per data point: N x (H+1).
Matrix mass_by_size(const Model& model, const Data& data, const InferenceOptions& exact) {
  constexpr Index kBlock = 500;  // all 2^H states of a block at a time
  Matrix mass = Matrix::Zero(data.rows(), model.latents() + 1);
  for (Index first = 0; first < data.rows(); first += kBlock) {
    const Index count = std::min(kBlock, data.rows() - first);
    const PosteriorRequest all{.states = Index{1} << model.latents()};
    const Posterior posterior = infer(model, data, exact, all, first, count);
    for (Index n = 0; n < count; ++n)
      for (Index k = 0; k < all.states; ++k) {
        const auto state = posterior.states.row(n).segment(k * posterior.max_active, posterior.max_active);
        mass(first + n, (state.array() >= 0).count()) += posterior.state_weights(n, k);
      }
  }
  return mass;
}

/// The data points at the lower quartile, median and upper quartile of the expected number of active latents.
std::vector<Index> typical_points(const Vector& active) {
  std::vector<Index> order(static_cast<std::size_t>(active.size()));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](Index a, Index b) { return active(a) < active(b); });
  return {order[order.size() / 4], order[order.size() / 2], order[3 * order.size() / 4]};
}

std::vector<double> values(const Vector& vector) { return {vector.begin(), vector.end()}; }

Chart bar_chart(const std::string& title, const std::string& x_label, const Json& mass) {
  Chart chart;
  chart.title = title;
  chart.x_label = x_label;
  chart.y_label = "posterior mass";
  chart.kind = Chart::Kind::bar;
  chart.series = {{"mass", mass.get<std::vector<double>>(), {}}};
  return chart;
}

/// Over all trials with so many samples.
std::vector<double> mean_by_size(const std::vector<Finished>& trials, Index samples) {
  std::vector<double> mean;
  int count = 0;
  for (const Finished& trial : trials) {
    if (!fits(trial, {{"samples", samples}})) continue;
    const Json& mass = trial.result["mean_by_size"];
    mean.resize(mass.size());
    for (std::size_t i = 0; i < mass.size(); ++i) mean[i] += mass[i].get<double>();
    ++count;
  }
  for (double& value : mean) value /= count;
  return mean;
}

class PosteriorMass final : public Experiment {
 public:
  std::string name() const override { return "posterior-mass"; }
  std::string place() const override { return "Figure 2"; }
  std::string title() const override { return "Where the posterior has its mass"; }
  std::vector<std::string> files() const override { return {source_file("10halo")}; }

  std::vector<Json> trials(const Request& request) const override {
    std::vector<Json> all;
    // 500 samples as in Table 1, to which the paper refers for details; and all of them.
    for (const Index samples : {Index{500}, sample_count(request)})
      for (int i = 0; i < request.repetitions(5, 2); ++i)
        all.push_back({{"data", "10halo"},
                       {"samples", samples},
                       {"method", "exact"},
                       {"iterations", 50},
                       {"seed", request.seed + static_cast<std::uint64_t>(i)}});
    return all;
  }

  Json run(const Json& settings, const Request& request) const override {
    const Matrix recorded = benchmark_sources(request, settings["data"]);
    const Matrix sources = recorded.leftCols(std::min(recorded.cols(), settings["samples"].get<Index>()));
    Random random(settings["seed"].get<std::uint64_t>());
    const Matrix mixing = mixing_matrix(sources.rows(), 0, random);
    const MatrixData data(mixture_of(mixing, sources).transpose(), "the mixture");
    FitOptions options;
    options.intercept = Intercept::none;
    options.latents = sources.rows();
    options.inference.method = word<Method>(settings, "method");
    options.inference.threads = 1;
    options.init = Init::random;
    options.iterations = settings["iterations"].get<int>();
    options.tolerance = 0;
    options.seed = settings["seed"].get<std::uint64_t>();
    const Model model = fit(data, options).model();

    const Matrix probability = infer(model, data, options.inference).probability;
    const Matrix mass = mass_by_size(model, data, options.inference);
    Json points = Json::array();
    for (const Index n : typical_points(probability.rowwise().sum()))
      points.push_back({{"point", n}, {"by_latent", values(probability.row(n))}, {"by_size", values(mass.row(n))}});
    const Vector within = mass.leftCols(kFew + 1).rowwise().sum();
    return {{"points", points},
            {"mean_by_size", values(mass.colwise().mean())},
            {"mass_within", within.mean()},
            {"points_within", (within.array() > 0.9).cast<double>().mean()},
            {"amari", amari_index(model.W, mixing)}};
  }

  Summary summarise(const std::vector<Finished>& trials, const Request& request, Report& report) const override {
    Summary summary;
    report.add_text(fmt::format(
        "Ten mixed speech signals{}, exact EM, then the exact posterior of single data points. Left: how probable it "
        "is that a latent is active. Right: that so many of the ten are. The paper does not say how its three points "
        "were chosen; these are the quartiles of the expected number of active latents (500 samples, first seed).",
        request.quick ? " (here: artificial ones)" : ""));
    std::vector<Chart> charts;
    const Json& first = trials.front().result;
    for (const Json& point : first["points"]) {
      const std::string title = fmt::format("Data point {}", point["point"].get<int>());
      charts.push_back(bar_chart(title, "latent", point["by_latent"]));
      charts.push_back(bar_chart(title, "active latents", point["by_size"]));
    }
    for (const Index samples : {Index{500}, sample_count(request)})
      charts.push_back(bar_chart(fmt::format("All points and trials, {} samples", samples), "active latents",
                                 mean_by_size(trials, samples)));
    report.add_charts(charts);

    std::vector<std::vector<std::string>> rows;
    for (const Index samples : {Index{500}, sample_count(request)}) {
      const Json where{{"samples", samples}};
      const Spread mass = spread_of(trials, where, "mass_within"), points = spread_of(trials, where, "points_within"),
                   amari = spread_of(trials, where, "amari");
      rows.push_back({std::to_string(samples),
                      fmt::format("{:.2f} ({:.2f} to {:.2f})", mass.mean, mass.smallest, mass.largest),
                      fmt::format("{:.2f}", points.mean), fmt::format("{:.2f}", amari.mean)});
      summary.figures.push_back({{"samples", samples},
                                 {"mass_within", json_of(mass)},
                                 {"points_within", json_of(points)},
                                 {"amari", json_of(amari)}});
    }
    report.add_table({"samples", fmt::format("mass with at most {} active, mean (range)", kFew),
                      "points with 0.9 of their mass there", "Amari index"},
                     rows);

    const auto claim = [&](const char* samples, const Json& figures) {
      const double mass = figures["mass_within"]["mean"].get<double>();
      const double points = figures["points_within"]["mean"].get<double>();
      summary.claims.push_back(
          {fmt::format("{}: for most data points states with more than {} active latents can be neglected (they have "
                       "less than 0.1 of the mass for {:.0f} % of the points)",
                       samples, kFew, 100 * points),
           points > 0.5, InQuick::needs_data});
      summary.claims.push_back({fmt::format("{}: at least two thirds of the posterior mass are in states with at most "
                                            "{} of 10 active latents ({:.0f} %)",
                                            samples, kFew, 100 * mass),
                                mass > 2.0 / 3});
    };
    claim("500 samples", summary.figures[0]);
    claim("All samples", summary.figures[1]);
    return summary;
  }
};

}  // namespace

std::unique_ptr<Experiment> posterior_mass() { return std::make_unique<PosteriorMass>(); }

}  // namespace gsc::experiments
