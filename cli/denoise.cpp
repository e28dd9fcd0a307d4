#include <gsc/denoise.h>
#include <gsc/picture_files.h>
#include <gsc/version.h>

#include <fmt/format.h>

#include <chrono>

#include "checks.h"
#include "commands.h"
#include "data/extension.h"
#include "denoise_report.h"
#include "interrupts.h"
#include "metrics.h"
#include "noisy_picture.h"
#include "program_team.h"
#include "progress.h"

namespace gsc::cli {
namespace {

using Clock = std::chrono::steady_clock;

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

/// The standard deviations are in the units of the picture; only TIFF can hold fractions.
PixelDepth std_depth(const std::string& path, PixelDepth of_picture) {
  const std::string extension = lower_extension(path);
  return extension == ".tif" || extension == ".tiff" ? PixelDepth::real32 : of_picture;
}

/// Whether the files asked for can hold what will come out, before the long work.
void check_formats(const Settings& settings, const Picture& picture) try {
  const DenoiseSettings& asked = settings.denoise;
  Picture pixel;  // one of the same kind
  pixel.channels.assign(picture.channels.size(), Matrix::Zero(1, 1));
  pixel.depth = std_depth(asked.std, picture.depth);
  if (!asked.std.empty()) check_writable(asked.std, pixel);
  if (picture.alpha.size() > 0) pixel.alpha = Matrix::Zero(1, 1);
  pixel.depth = asked.depth.value_or(picture.depth);
  check_writable(settings.output, pixel);
} catch (const Error& error) {
  throw UsageError(error.what());
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
  Settings settings = line.settings;
  check_sharing(line, settings.fit.sharing);
  use_team(settings.fit);
  const DenoiseSettings& asked = settings.denoise;
  check_truth_options(line);
  DenoiseOptions options = asked.options;
  options.seed = settings.fit.seed;
  options.threads = settings.fit.inference.threads;
  options.sharing = settings.fit.sharing;
  options.validate();
  check_outputs(settings);

  ProgressLine progress("denoise", settings.quiet);
  DenoisingRun run;
  NoisyPicture input = read_noisy(asked);
  run.noisy = std::move(input.noisy);
  run.clean = std::move(input.clean);
  check_formats(settings, run.noisy);
  if (!asked.keep_noisy.empty() && team().root()) write_picture(asked.keep_noisy, run.noisy);

  catch_interrupts();
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  run.denoised = naming_file(asked.picture, [&] {
    return denoise(run.noisy, options, [&](const DenoiseProgress& now) {
      progress.show(progress_text(now, seconds()), std::chrono::seconds(2));
      return !interrupted();
    });
  });
  run.seconds = seconds();
  if (!team().root()) return kDone;

  Picture output = run.denoised.picture;
  if (asked.depth) set_depth(output, *asked.depth);
  write_picture(settings.output, output);
  if (!asked.std.empty()) {
    Picture std = run.denoised.std;
    std.depth = std_depth(asked.std, run.denoised.picture.depth);
    write_picture(asked.std, std);
  }
  const Denoised::Learned& main = run.denoised.learned.front();
  if (!settings.save_model.empty()) save_model(settings.save_model, {main.fit.state, main.options, GSC_VERSION});
  if (run.clean) run.score = score_of(*run.clean, run.noisy, run.denoised.picture);
  write_metrics(settings.metrics, denoise_metrics(settings, run));
  if (!settings.report.empty()) write_report(settings.report, settings, run);
  progress.say(denoise_summary(run));
  progress.say(fmt::format("wrote {}", settings.output));
  return kDone;
}

}  // namespace gsc::cli
