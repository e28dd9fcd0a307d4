#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/generate.h>
#include <gsc/sound.h>
#include <gsc/version.h>

#include <cmath>
#include <limits>
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
}

bool to_sound(const Settings& settings) { return is_sound_file(settings.output); }

void check_files(const CommandLine& line) {
  const Settings& settings = line.settings;
  if (line.given("rate") && !to_sound(settings))
    throw UsageError(
        fmt::format("rate is for sound, .wav and .flac, but output is {}; leave it out", output_name(settings.output)));
  if (to_sound(settings) && settings.generator)
    throw UsageError(
        fmt::format("output is {}: sound is drawn from models of recordings, not from --generator; write "
                    ".npy, for instance",
                    settings.output));
  if (settings.with_latents && is_stream(settings.output))
    throw UsageError("with-latents writes several arrays, and output is -, standard output; write .npz or .h5");
  if (settings.with_latents)
    check_output({"output (with latents)", settings.output, {".npz", ".h5", ".hdf5"}});
  else
    check_result(line, {".npy", ".npz", ".csv", ".tsv", ".h5", ".hdf5", ".wav", ".flac"});
  check_outputs({{"output", settings.output}, {"save-model", settings.save_model, kModelFiles}}, {settings.model});
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

/// The windows one after the other. Returns what to tell the user.
std::string write_sound_sample(const Settings& settings, const ModelFile& file, Random& random) {
  if (!file.recording)
    throw Error(
        fmt::format("output is {}, but the model {} was not learned from windows of a recording (gsc fit "
                    "--window), so its data points are no sound; write .npy, for instance",
                    settings.output, settings.model));
  const double rate = settings.recording.rate.value_or(file.recording->rate);
  if (!(rate >= 1 && rate <= std::numeric_limits<int>::max()))
    throw UsageError(
        file.recording->rate > 0 || settings.recording.rate
            ? fmt::format("rate is {:g}; sound needs at least 1 sample a second, a whole number", rate)
            : fmt::format("the model {} does not know its samples a second; add --rate R", settings.model));
  const Matrix windows = sample(file.state.model, settings.count, random).data;
  Sound sound;
  sound.rate = static_cast<int>(std::lround(rate));
  sound.channels =
      Eigen::Map<const Matrix>(windows.data(), settings.count * file.recording->window, file.recording->channels)
          .transpose();
  // Recordings that were no sound have units of their own.
  constexpr double kPeak = 0.9, kFaint = 0.01;
  const double peak = sound.channels.cwiseAbs().maxCoeff();
  const bool scaled = peak > 1 || (peak > 0 && peak < kFaint);
  if (scaled) sound.channels *= kPeak / peak;
  write_sound(settings.output, sound);
  return fmt::format("{:.4g} s of sound at {} samples a second{}",
                     static_cast<double>(sound.channels.cols()) / sound.rate, sound.rate,
                     scaled ? fmt::format(", multiplied by {:.3g} to fit the range of sound", kPeak / peak) : "");
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
  settings.fit.latents = kUsualLatents;
  settings.fit = apply(settings.learning, settings.fit);
  check_combination(line, settings);
  check_files(line);

  Random random(settings.fit.seed);
  Index dimensions = 0;
  std::string about_sound;
  try {
    if (settings.generator) {
      dimensions = write_generated(settings, random);
    } else {
      const ModelFile file = load_model(settings.model);
      if (to_sound(settings))
        about_sound = write_sound_sample(settings, file, random);
      else
        write_sample(settings, file.state.model, random);
      dimensions = file.state.model.dimensions();
    }
  } catch (const std::bad_alloc&) {
    throw Error(fmt::format("count is {}{}: so many numbers do not fit into memory; draw fewer", settings.count,
                            settings.generator ? fmt::format(" and latents is {}", settings.fit.latents) : ""));
  }
  ProgressLine progress("sample", settings.quiet);
  progress.say(fmt::format("wrote {}: {} of {} dimensions", output_name(settings.output),
                           data_points_text(settings.count), dimensions));
  if (!about_sound.empty()) progress.say(about_sound);
  if (!settings.save_model.empty()) progress.say(fmt::format("wrote {}", settings.save_model));
  return kDone;
}

}  // namespace gsc::cli
