#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/generate.h>
#include <gsc/version.h>

#include <cmath>
#include <new>

#include "checks.h"
#include "commands.h"
#include "progress.h"
#include "streams.h"

namespace gsc::cli {
namespace {

constexpr Index kUsualLatents = 10;

/// Everything that makes no sense together.
void check_combination(const CommandLine& line, const Settings& settings) {
  if (settings.model.empty() && !settings.generator)
    throw UsageError("nothing to draw from: give a MODEL file, or --generator bars|laplace|cauchy");
  if (!settings.model.empty() && settings.generator)
    throw UsageError("a MODEL file and --generator exclude each other");
  if (settings.count < 1) throw UsageError("count is 0; it must be at least 1");
  for (const char* name : {"latents", "noise-std", "perturbation"})
    if (!settings.generator && line.given(name))
      throw UsageError(fmt::format("{} is for --generator; a model file has its own", name));
  if (!settings.save_model.empty() && settings.generator != Generator::bars)
    throw UsageError("save-model is for --generator bars; there is no other model to save");
  if (settings.generator == Generator::bars && line.given("perturbation"))
    throw UsageError("perturbation is for --generator laplace and cauchy");
  if (settings.generator && settings.generator != Generator::bars &&
      (settings.fit.latents < 1 || settings.fit.latents > kMaxLatents))
    throw UsageError(fmt::format("latents is {}; it must lie between 1 and {}", settings.fit.latents, kMaxLatents));
}

void check_outputs(const CommandLine& line) {
  const Settings& settings = line.settings;
  if (settings.with_latents && is_stream(settings.output))
    throw UsageError("with-latents writes several arrays, and output is -, standard output; write .npz or .h5");
  if (settings.with_latents)
    check_output("output (with latents)", settings.output, {".npz", ".h5", ".hdf5"});
  else
    check_result(line, {".npy", ".npz", ".csv", ".tsv", ".h5", ".hdf5"});
  check_output("save-model", settings.save_model, {".h5", ".hdf5"});
  check_distinct({settings.output, settings.save_model});
  check_not_input(settings.output, settings.model);
}

void write_sample(const Settings& settings, const Model& model, Random& random) {
  const Sample drawn = sample(model, settings.count, random);
  std::vector<NamedArray> arrays = {named("data", drawn.data)};
  if (settings.with_latents) {
    arrays.push_back(named("spikes", drawn.spikes));
    arrays.push_back(named("slabs", drawn.slabs));
  }
  write_result(settings, arrays);
}

Index write_generated(const Settings& settings, Random& random) {
  if (settings.generator == Generator::bars) {
    Model model = bars_model(settings.fit.latents, random);
    if (settings.noise_std) model.noise = Noise::scalar(*settings.noise_std * *settings.noise_std, model.dimensions());
    write_sample(settings, model, random);
    if (!settings.save_model.empty())
      save_model(settings.save_model,
                 {FitState{.model = model, .history = {}, .rescues = {}, .method = {}}, {}, GSC_VERSION});
    return model.dimensions();
  }
  const auto shape = settings.generator == Generator::laplace ? Coefficients::laplace : Coefficients::cauchy;
  const Matrix mixing = mixing_matrix(settings.fit.latents, settings.perturbation, random);
  const Matrix data = superposition(mixing, shape, settings.noise_std.value_or(1), settings.count, random);
  std::vector<NamedArray> arrays = {named("data", data)};
  if (settings.with_latents) arrays.push_back(named("mixing", mixing));
  write_result(settings, arrays);
  return data.cols();
}

}  // namespace

int run_sample(const CommandLine& line) {
  Settings settings = line.settings;
  if (!line.given("latents")) settings.fit.latents = kUsualLatents;
  check_combination(line, settings);
  check_outputs(line);

  Random random(settings.fit.seed);
  Index dimensions = 0;
  try {
    if (settings.generator) {
      dimensions = write_generated(settings, random);
    } else {
      const Model model = load_model(settings.model).state.model;
      write_sample(settings, model, random);
      dimensions = model.dimensions();
    }
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("count is {}{}: so many numbers do not fit into memory; draw fewer", settings.count,
                            settings.generator ? fmt::format(" and latents is {}", settings.fit.latents) : ""));
  }
  ProgressLine progress("sample", settings.quiet);
  progress.say(fmt::format("wrote {}: {} of {} dimensions", output_name(settings.output),
                           data_points_text(settings.count), dimensions));
  if (!settings.save_model.empty()) progress.say(fmt::format("wrote {}", settings.save_model));
  return kDone;
}

}  // namespace gsc::cli
