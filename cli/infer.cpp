#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/missing.h>
#include <gsc/stopwatch.h>

#include <chrono>
#include <cmath>

#include "checks.h"
#include "commands.h"
#include "metrics.h"
#include "missing.h"
#include "progress.h"
#include "recording.h"
#include "streams.h"

namespace gsc::cli {
namespace {

Posterior infer_all(const Model& model, const Data& data, const Settings& settings, ProgressLine& progress,
                    InferenceTotals& totals) {
  const PosteriorRequest request{settings.variance, settings.states, settings.with_candidates};
  const Stopwatch stopwatch;
  ProgressWatcher watch([&](const Progress& now) {
    const auto done = static_cast<Index>(std::lround(now.fraction * static_cast<double>(data.rows())));
    totals.seconds = stopwatch.seconds();
    const Index left = data.rows() - done;
    progress.show(fmt::format("{} of {} data points, {} left", done, data.rows(),
                              duration_text(totals.seconds / static_cast<double>(done) * static_cast<double>(left))),
                  std::chrono::seconds(5));
  });
  Posterior posterior = infer(model, data, settings.fit.inference, request, watch);
  totals.clamped_pivots = posterior.clamped_pivots;
  if (posterior.log_likelihood.size() > 0) totals.free_energy = posterior.log_likelihood.sum();
  totals.activations = point_estimate(settings.fit.inference.method)
                           ? Vector((posterior.mean.array() != 0).cast<double>().colwise().sum().transpose())
                           : Vector(posterior.probability.colwise().sum().transpose());
  return posterior;
}

/// .npy has room for one array: the mean.
bool is_npy(const Settings& settings) {
  return is_stream(settings.output) ? settings.output_format == StreamFormat::npy
                                    : lower_extension(settings.output) == ".npy";
}

void check_one_array(const CommandLine& line) {
  for (const char* name : {"variance", "states", "with-candidates"})
    if (is_npy(line.settings) && line.given(name))
      throw UsageError(fmt::format("{} has no place in {}: .npy holds one array, the mean; write .npz, .h5 or .csv",
                                   name, output_name(line.settings.output)));
}

/// Filling in needs gaps, a model that has them, and a place to go.
void check_impute(const CommandLine& line, const Settings& settings, const Model& model) {
  if (settings.impute.empty() && settings.impute_std.empty()) {
    if (line.given("denoise-observed"))
      throw UsageError("denoise-observed is about what --impute writes, which is not asked for; add --impute FILE");
    return;
  }
  if (settings.fit.inference.missing == Missing::error && !settings.denoise_observed)
    throw UsageError(
        "impute fills in missing values, but missing is error; say which values are missing with --missing nan, "
        "--missing VALUE or --mask FILE");
  if (settings.denoise_observed && model.noise.type() == NoiseType::full)
    throw UsageError(
        fmt::format("denoise-observed needs a model with noise of each dimension by itself, but that of {} is full; "
                    "learn one with scalar or diagonal noise",
                    settings.model));
}

/// What a method that gives codes alone does not have.
void check_point_estimate(const Settings& settings) {
  const Method method = settings.fit.inference.method;
  if (!point_estimate(method)) return;
  PosteriorRequest{settings.variance, settings.states, settings.with_candidates}.validate(method);
  if (!settings.impute_std.empty())
    throw UsageError(
        fmt::format("impute-std is {}, but the {} method gives codes and no posterior deviation; leave it "
                    "out, or learn with the truncated method",
                    settings.impute_std, to_string(method)));
}

void note_pivots(std::int64_t count, ProgressLine& progress) {
  if (count > 0) progress.say(fmt::format("data points had a numerically singular state ({} times)", count));
}

void write_imputed(const Model& model, const Data& data, const Settings& settings, ProgressLine& progress) {
  if (settings.impute.empty() && settings.impute_std.empty()) return;
  const Imputed imputed = impute(model, data, settings.fit.inference, {.denoise_observed = settings.denoise_observed},
                                 0, -1, [] { return interrupted(); });
  if (imputed.held_out > 0)
    progress.say(fmt::format("deviations times {:.3g}, by {} observed values that were set aside", imputed.scale,
                             imputed.held_out));
  note_pivots(imputed.clamped_pivots, progress);
  const std::vector<std::string> names = data.column_names();
  if (!settings.impute.empty()) write_arrays(settings.impute, {named("imputed", imputed.mean)}, names);
  if (!settings.impute_std.empty()) write_arrays(settings.impute_std, {named("std", imputed.std)}, names);
}

/// A lambda that leaves nothing is a mistake, of units most likely. It is no error: the data may be silent.
void warn_of_lambda(const Model& model, const Data& data, const Settings& settings, const InferenceTotals& totals,
                    ProgressLine& progress) {
  const InferenceOptions& options = settings.fit.inference;
  if (!codes_by_lambda(options) || options.coding.lambda == 0 || totals.activations.sum() > 0) return;
  const double largest = largest_useful_lambda(model, data, options.missing);
  progress.warn(
      fmt::format("lambda is {:.6g}, under which every code is zero: no atom has a larger product with any "
                  "data point than {:.6g}; choose less than that, or 0 to have it follow from the data",
                  options.coding.lambda, largest));
}

/// Model and data are easily exchanged.
void check_order(const Settings& settings) {
  const auto is_model = [](const std::string& name) { return is_hdf5_extension(lower_extension(name)); };
  if (!is_model(settings.model) && is_model(settings.data))
    throw UsageError(fmt::format("{} is no model by its name; the model comes first, as in gsc infer {} {}",
                                 settings.model, settings.data, settings.model));
}

/// What the user asked for, under the names that docs/cli.md promises.
std::vector<NamedArray> arrays_of(const Posterior& posterior, const Settings& settings) {
  if (is_npy(settings)) return {named("mean", posterior.mean)};
  std::vector<NamedArray> arrays = {named("mean", posterior.mean)};
  if (!point_estimate(settings.fit.inference.method)) {
    arrays.push_back(named("probability", posterior.probability));
    if (posterior.log_likelihood.size() > 0)  // which draws do not give
      arrays.push_back(named("log_likelihood", posterior.log_likelihood));
  }
  if (settings.variance) arrays.push_back(named("variance", posterior.variance));
  if (settings.states > 0) {
    arrays.push_back(
        {"states", {posterior.mean.rows(), settings.states, posterior.max_active}, nullptr, posterior.states.data()});
    arrays.push_back(named("state_weights", posterior.state_weights));
  }
  if (settings.with_candidates)
    arrays.push_back({"candidates",
                      {posterior.candidates.rows(), posterior.candidates.cols()},
                      nullptr,
                      posterior.candidates.data()});
  return arrays;
}

}  // namespace

int run_infer(const CommandLine& line) {
  Settings settings = line.settings;
  ProgressLine progress("infer", settings.quiet);
  check_result(line, {".npz", ".h5", ".hdf5", ".csv", ".tsv", ".npy"});
  check_one_array(line);
  const std::vector<std::string> tables = {".npy", ".npz", ".csv", ".tsv", ".h5", ".hdf5"};
  check_outputs({{"output", settings.output},
                 {"metrics", settings.metrics},
                 {"impute", settings.impute, tables},
                 {"impute-std", settings.impute_std, tables}},
                {settings.data, settings.model, settings.mask});

  check_order(settings);
  constexpr Index kMostStates = 65536;
  if (settings.states > kMostStates)
    throw UsageError(
        fmt::format("states is {}; at most {} of each data point can be written", settings.states, kMostStates));
  const ModelFile file = load_model(settings.model);
  const Model& model = file.state.model;
  FitOptions preset;
  if (file.options) preset.inference = file.options->inference;
  preset.inference.threads = 0;
  settings.fit = apply(settings.learning, preset);
  choose_missing(line, settings, &file);
  check_point_estimate(settings);
  check_impute(line, settings, model);
  const std::string note = clip_truncation(settings.learning, settings.fit.inference, model.latents());
  settings.fit.inference.validate(model.latents());
  Input input = open_input(line, settings, "infer", &file, solo());
  mark_missing(settings, "infer", solo(), input);
  note_missing(line, settings, &file, solo(), input);
  const std::unique_ptr<Data>& data = input.data;
  if (data->rows() == 0) throw Error(fmt::format("{}: the data has no rows", data->name()));
  input.check(model, settings.model);
  for (const std::string& about : input.notes) progress.say(about);
  if (!note.empty()) progress.say(note);

  catch_interrupts();
  InferenceTotals totals;
  const Posterior posterior = infer_all(model, *data, settings, progress, totals);
  warn_of_lambda(model, *data, settings, totals, progress);
  std::vector<NamedArray> arrays = arrays_of(posterior, settings);
  const WindowTimes times(input);
  if (!is_npy(settings)) times.append_to(arrays);
  write_result(settings, arrays);
  write_imputed(model, *data, settings, progress);
  write_metrics(settings.metrics, infer_metrics(settings, *data, model, totals));
  const auto count = static_cast<double>(data->rows());
  const std::string energy = totals.free_energy ? fmt::format("free energy {:.9g} ({:.6g} per data point), ",
                                                              *totals.free_energy, *totals.free_energy / count)
                                                : "";
  progress.say(fmt::format("{} in {}: {}{:.3g} active latents each", input.text(), duration_text(totals.seconds),
                           energy, totals.activations.sum() / count));
  note_pivots(totals.clamped_pivots, progress);
  progress.say(fmt::format("wrote {}", output_name(settings.output)));
  for (const std::string& name : {settings.impute, settings.impute_std})
    if (!name.empty()) progress.say(fmt::format("wrote {}", name));
  return kDone;
}

}  // namespace gsc::cli
