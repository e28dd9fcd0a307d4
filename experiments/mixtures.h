#pragma once
// One trial of source separation with known sources: mix them, learn from the mixture, compare the mixing matrices.

#include <fmt/format.h>
#include <gsc/generate.h>
#include <gsc/metrics.h>
#include <gsc/separate.h>

#include <algorithm>

#include "benchmarks.h"
#include "model/random_draws.h"
#include "statistics.h"

namespace gsc::experiments {

/// The index, or null where there is none: latents have died, and the learned matrix has no inverse.
inline Json amari_of(const Matrix& learned, const Matrix& mixing) {
  try {
    return amari_index(learned, mixing);
  } catch (const Error&) {
    return nullptr;
  }
}

/// Options as the settings have them: method, truncation (H' = gamma, at most H), iterations; the paper's selection,
/// random start and homoscedastic noise; one thread.
inline FitOptions separation_options(const Json& settings, Index latents) {
  FitOptions options;
  options.latents = latents;
  options.init = Init::random;
  options.iterations = settings.at("iterations");
  options.tolerance = 0;
  const std::string method = settings.at("method");
  options.inference.method = method == "factored" ? Method::factored
                             : method == "exact"  ? Method::exact
                                                  : Method::truncated;
  options.inference.selection = Selection::singleton;
  options.inference.candidates = options.inference.max_active =
      std::min<Index>(latents, settings.value("truncation", Index{10}));
  options.inference.threads = 1;
  return options;
}

/// x = A s + N(0, noise^2) with A orthogonal plus N(0, mixing^2) in every entry, both drawn from `seed`; from it comes
/// also the seed of learning. Settings besides those of the options: benchmark, mixing, noise, seed, and if not all
/// samples are used offset and samples; starts: the best of so many by free energy.
/// The mixture is divided by one number that makes its mean variance 1: the paper's random starts have amplitudes
/// around 1, so that in other units they start elsewhere and find other optima. The Amari index does not depend on it.
inline Json run_separation(const Json& settings, const Request& request) {
  Matrix sources = benchmark_sources(request, settings.at("benchmark"));
  if (settings.at("samples").is_number())
    sources = sources.middleCols(settings.at("offset").get<Index>(), settings.at("samples").get<Index>()).eval();
  Random random(settings.at("seed").get<std::uint64_t>());
  const Matrix mixing = mixing_matrix(sources.rows(), settings.at("mixing"), random);
  const double noise = settings.value("noise", 0.0);
  Matrix mixture = mixing * sources;
  if (noise > 0) mixture += noise * standard_normal(mixture.rows(), mixture.cols(), random);
  mixture /= std::sqrt(mixture.squaredNorm() / static_cast<double>(mixture.size()));

  FitOptions options = separation_options(settings, sources.rows());
  options.seed = random();
  const FitResult fit =
      fit_restarts(MatrixData(mixture.transpose(), "the mixture"), options, settings.value("starts", 1));
  return {
      {"amari", amari_of(fit.model().W, mixing)}, {"free_energy", fit.last().free_energy}, {"points", mixture.cols()},
      {"noise_std", fit.last().noise_std},        {"rescues", fit.state.rescues.total()},  {"seconds", fit.seconds}};
}

/// Of the Amari indices. A trial without one counts as 1, the worst there is, in `fair`, and not at all in `spread`.
struct AmariSpread {
  Spread spread, fair;
  int undefined = 0;
};

inline AmariSpread amari_spread(const std::vector<Finished>& trials, const Json& where) {
  std::vector<double> values = collect(trials, where, "amari");
  AmariSpread result{spread_of(values), {}, 0};
  // Every trial has a time.
  result.undefined = static_cast<int>(collect(trials, where, "seconds").size() - values.size());
  values.insert(values.end(), static_cast<std::size_t>(result.undefined), 1.0);
  result.fair = spread_of(values);
  return result;
}

inline Json json_of(const AmariSpread& amari) {
  Json json = json_of(amari.spread);
  json["undefined"] = amari.undefined;
  json["mean_undefined_as_1"] = amari.fair.mean;
  return json;
}

/// Mean and standard deviation as in the paper's tables: "0.170 (0.030)"; then how many trials have no index.
inline std::string text_of(const AmariSpread& amari) {
  const Spread& spread = amari.spread;
  const std::string none = amari.undefined > 0 ? fmt::format("{} none", amari.undefined) : "";
  if (spread.count == 0) return none;
  const std::string deviation =
      spread.count > 1 ? fmt::format(" ({:.3f})", spread.error * std::sqrt(spread.count)) : "";
  return fmt::format("{:.3f}{}{}{}", spread.mean, deviation, none.empty() ? "" : ", ", none);
}

/// What the page says about the index, and about the data of the quick version.
inline void add_amari_note(const Request& request, Report& report) {
  report.add_text(
      "Amari index: 0 if the mixing is found up to order and scale; mean and standard deviation over trials. 'None' "
      "counts the trials in which latents died, so that there is no index: in tables they are left out of the mean, in "
      "curves and where methods are compared they count as 1, the worst there is.");
  if (request.quick)
    report.add_text(
        "Quick version: artificial sources (independent, Laplace) stand in for those of the data named here.");
}

}  // namespace gsc::experiments
