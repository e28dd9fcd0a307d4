#include "mixtures.h"

#include <fmt/format.h>
#include <gsc/generate.h>
#include <gsc/metrics.h>
#include <gsc/separate.h>
#include <gsc/stopwatch.h>

#include <algorithm>
#include <cmath>

#include "benchmarks.h"
#include "model/random_draws.h"
#include "setting_words.h"

namespace gsc::experiments {
namespace {

/// The part of the sources that the settings ask for.
Matrix chosen_samples(const Matrix& sources, const Json& settings) {
  const Json& samples = settings.at("samples");
  if (samples.is_number()) return sources.middleCols(settings.at("offset").get<Index>(), samples.get<Index>());
  if (samples != "all") throw Error("samples is " + samples.dump() + "; expected a number, or \"all\"");
  return sources;
}

/// What users run, in the way that the settings ask for.
SeparateOptions separate_options(const Json& settings, Index sources) {
  SeparateOptions options;
  const std::string method = settings.at("method");
  if (method == kUsualSeparation) {
    options.restarts = settings.at("starts");
    options.learning.iterations = settings.at("iterations").get<int>();
    options.learning.inference.threads = 1;
  } else if (method == to_string(SeparateMethod::fastica)) {
    options.method = SeparateMethod::fastica;
    options.learning.inference.threads = 1;
  } else {  // the paper's way
    options.learning = separation_options(settings, sources);
    options.restarts = settings.value("starts", 1);
    options.whiten = Whiten::off;
    options.start_from_fastica = false;
  }
  return options;
}

/// A dictionary of as many atoms as sources, whose directions are compared with those of the mixing; as the paper had
/// them of SPAMS and ESCA. The weight of the lasso is the usual one, where the paper chose it by cross-validation.
Json learn_dictionary(const Json& settings, const Matrix& mixture, const Matrix& mixing, std::uint64_t seed) {
  FitOptions options;
  options.latents = mixing.cols();
  options.init = Init::random;
  options.iterations = settings.at("iterations").get<int>();
  options.tolerance = 0;
  options.inference.method = word<Method>(settings, "method");
  options.inference.threads = 1;
  options.seed = seed;
  const FitResult fit = gsc::fit(MatrixData(mixture.transpose(), "the mixture"), options);
  return {{"amari", amari_of(fit.model().W, mixing)},
          {"points", mixture.cols()},
          {"seconds", fit.seconds},
          {std::string(objective_name(options.inference.method)), fit.last().free_energy}};
}

bool is_dictionary(const Json& settings) {
  const std::optional<Method> method = find_word<Method>(settings.at("method").get<std::string>());
  return method && !spike_and_slab(*method);
}

}  // namespace

Json amari_of(const Matrix& learned, const Matrix& mixing) {
  try {
    return amari_index(learned, mixing);
  } catch (const Error&) {
    return nullptr;
  }
}

Matrix mixture_of(const Matrix& mixing, const Matrix& sources) { return mixing * sources; }

LearningChoices separation_options(const Json& settings, Index latents) {
  LearningChoices options;
  options.intercept = Intercept::none;
  options.latents = latents;
  options.init = Init::random;
  options.iterations = settings.at("iterations").get<int>();
  options.tolerance = 0;
  options.inference.method = word<Method>(settings, "method");
  options.inference.selection = Selection::singleton;
  options.inference.candidates = options.inference.max_active =
      std::min<Index>(latents, settings.value("truncation", Index{10}));
  options.inference.threads = 1;
  return options;
}

Json run_separation(const Json& settings, const Request& request) {
  const Matrix sources = chosen_samples(benchmark_sources(request, settings.at("benchmark")), settings);
  Random random(settings.at("seed").get<std::uint64_t>());
  const Matrix mixing = mixing_matrix(sources.rows(), settings.at("mixing"), random);
  const double noise = settings.value("noise", 0.0);
  Matrix mixture = mixture_of(mixing, sources);
  if (noise > 0) mixture += noise * standard_normal(mixture.rows(), mixture.cols(), random);
  mixture /= std::sqrt(mixture.squaredNorm() / static_cast<double>(mixture.size()));

  if (is_dictionary(settings)) return learn_dictionary(settings, mixture, mixing, random());
  SeparateOptions options = separate_options(settings, sources.rows());
  options.learning.seed = random();
  const Stopwatch watch;
  const gsc::Separation separation = separate(mixture, options);
  const double seconds = watch.seconds();
  Json result{{"amari", amari_of(separation.mixing, mixing)}, {"points", mixture.cols()}, {"seconds", seconds}};
  if (separation.fit.state.history.empty()) {  // FastICA
    result["converged"] = separation.fastica->converged;
    return result;
  }
  result["free_energy"] = separation.fit.last().free_energy;
  result["noise_std"] = separation.fit.last().noise_std;
  result["rescues"] = separation.fit.state.rescues.total();
  return result;
}

AmariSpread amari_spread(const std::vector<Finished>& trials, const Json& where) {
  std::vector<double> values = collect(trials, where, "amari");
  AmariSpread result{spread_of(values), {}, 0};
  // Every trial has a time.
  result.undefined = static_cast<int>(collect(trials, where, "seconds").size() - values.size());
  values.insert(values.end(), static_cast<std::size_t>(result.undefined), 1.0);
  result.fair = spread_of(values);
  return result;
}

Json json_of(const AmariSpread& amari) {
  Json json = json_of(amari.spread);
  json["undefined"] = amari.undefined;
  json["mean_undefined_as_1"] = amari.fair.mean;
  return json;
}

std::string text_of(const AmariSpread& amari) {
  const Spread& spread = amari.spread;
  const std::string none = amari.undefined > 0 ? fmt::format("{} none", amari.undefined) : "";
  if (spread.count == 0) return none;
  const std::string deviation =
      spread.count > 1 ? fmt::format(" ({:.3f})", spread.error * std::sqrt(spread.count)) : "";
  return fmt::format("{:.3f}{}{}{}", spread.mean, deviation, none.empty() ? "" : ", ", none);
}

void add_amari_note(const Request& request, Report& report) {
  report.add_text(
      "Amari index: 0 if the mixing is found up to order and scale; mean and standard deviation over trials. 'None' "
      "counts the trials in which latents died, so that there is no index: in tables they are left out of the mean, in "
      "curves and where methods are compared they count as 1, the worst there is.");
  if (request.quick)
    report.add_text(
        "Quick version: artificial sources (independent, Laplace) stand in for the benchmark's, so that no published "
        "value applies.");
}

}  // namespace gsc::experiments
