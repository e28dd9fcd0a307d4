#include <gsc/denoise.h>

#include <fmt/format.h>
#include <gsc/metrics.h>
#include <gsc/report.h>

#include <chrono>
#include <cmath>

#include "checks.h"
#include "commands.h"
#include "denoise_report.h"
#include "interrupts.h"
#include "metrics.h"
#include "progress.h"

namespace gsc::cli {
namespace {

using Clock = std::chrono::steady_clock;

const std::vector<std::string> kPictureExtensions = {".png", ".tif", ".tiff", ".jpg", ".jpeg", ".pgm", ".ppm"};

void check_combination(const CommandLine& line, const DenoiseSettings& settings) {
  if (!settings.clean.empty() && line.given("add-noise"))
    throw UsageError("clean and add-noise exclude each other: with add-noise the picture given is the clean one");
  for (const char* name : {"clip", "noise-seed", "keep-noisy"})
    if (!line.given("add-noise") && line.given(name))
      throw UsageError(fmt::format("{} is for --add-noise SIGMA", name));
}

void check_outputs(const Settings& settings) {
  const DenoiseSettings& asked = settings.denoise;
  check_output("output", settings.output, kPictureExtensions);
  check_output("std", asked.std, kPictureExtensions);
  check_output("keep-noisy", asked.keep_noisy, kPictureExtensions);
  check_output("save-model", settings.save_model, {".h5", ".hdf5"});
  check_output("report", settings.report, {".html", ".htm"});
  if (settings.metrics != "-") check_output("metrics", settings.metrics);
  const std::vector<std::string> outputs = {settings.output,     asked.std,       asked.keep_noisy,
                                            settings.save_model, settings.report, settings.metrics};
  check_distinct(outputs);
  for (const std::string& output : outputs)
    for (const std::string& input : {asked.picture, asked.clean}) check_not_input(output, input);
}

/// In the units of the picture; only TIFF can hold fractions.
Picture std_picture(const Denoised& denoised, const std::string& path) {
  Picture picture = denoised.std;
  picture.depth = path.ends_with(".tif") || path.ends_with(".tiff") ? PixelDepth::real32 : denoised.picture.depth;
  return picture;
}

std::string progress_text(const DenoiseProgress& now, double seconds) {
  const std::string left =
      now.fraction > 0.02 ? fmt::format(", {} left", duration_text(seconds * (1 - now.fraction) / now.fraction)) : "";
  const std::string model = now.models > 1 ? fmt::format("model {} of {}: ", now.model + 1, now.models) : "";
  if (now.state == nullptr) return fmt::format("{}{:3.0f} %{}  denoising the patches", model, 100 * now.fraction, left);
  const IterationReport& row = now.state->history.back();
  return fmt::format("{}{:3.0f} %{}  iteration {}  free energy {:.9g}  noise std {:.4g}  active {:.2f}", model,
                     100 * now.fraction, left, row.iteration, row.free_energy, row.noise_std, row.mean_active);
}

}  // namespace

int run_denoise(const CommandLine& line) {
  const Settings& settings = line.settings;
  const DenoiseSettings& asked = settings.denoise;
  check_combination(line, asked);
  DenoiseOptions options = asked.options;
  options.seed = settings.fit.seed;
  options.threads = settings.fit.inference.threads;
  options.validate();
  check_outputs(settings);

  ProgressLine progress("denoise", settings.quiet);
  DenoisingRun run;
  run.noisy = read_picture(asked.picture);
  if (!asked.clean.empty()) run.clean = read_picture(asked.clean);
  if (asked.add_noise) {
    run.clean = run.noisy;
    run.noisy = add_noise(*run.clean, *asked.add_noise, asked.clip, asked.noise_seed);
    if (!asked.keep_noisy.empty()) write_picture(asked.keep_noisy, run.noisy);
  }
  if (run.clean) psnr(*run.clean, run.noisy, run.clean->peak());  // refuses pictures of different size before the work

  catch_interrupts();
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  run.denoised = denoise(run.noisy, options, [&](const DenoiseProgress& now) {
    progress.show(progress_text(now, seconds()), std::chrono::seconds(2));
    return !interrupted();
  });
  run.seconds = seconds();

  Picture output = run.denoised.picture;
  if (asked.depth) set_depth(output, *asked.depth);
  write_picture(settings.output, output);
  if (!asked.std.empty()) write_picture(asked.std, std_picture(run.denoised, asked.std));
  const Denoised::Learned& main = run.denoised.learned.front();
  if (!settings.save_model.empty()) save_model(settings.save_model, {main.fit.state, main.options, GSC_VERSION});
  if (run.clean) run.score = score_of(run);
  write_metrics(settings.metrics, denoise_metrics(settings, run));
  if (!settings.report.empty()) write_report(settings.report, settings, run);
  progress.say(denoise_summary(run));
  progress.say(fmt::format("wrote {}", settings.output));
  return kDone;
}

}  // namespace gsc::cli
