#include <gsc/file_kind.h>
#include <gsc/inpaint.h>
#include <gsc/model_file.h>
#include <gsc/picture_files.h>

#include <fmt/format.h>
#include <gsc/stopwatch.h>
#include <gsc/words.h>

#include <chrono>
#include <optional>

#include "checks.h"
#include "commands.h"
#include "damaged_picture.h"
#include "denoise_report.h"
#include "inpaint_report.h"
#include "metrics.h"
#include "noisy_picture.h"
#include "progress.h"
#include "streams.h"

namespace gsc::cli {
namespace {

/// Fractions fit into TIFF and arrays only.
PixelDepth std_depth(const std::string& path, PixelDepth of_picture) {
  const std::string extension = lower_extension(path);
  return extension == ".tif" || extension == ".tiff" || extension == ".npy" ? PixelDepth::real32 : of_picture;
}

/// Everything that can be found wrong with names of files before the work.
void check_files(const Settings& settings) {
  const InpaintSettings& asked = settings.inpaint;
  std::vector<std::string> extensions = kPictureExtensions;
  extensions.push_back(".npy");
  check_outputs({{"output", settings.output, extensions},
                 {"std", asked.std, extensions},
                 {"keep-damaged", asked.keep_damaged, extensions},
                 {"report", settings.report, kPages},
                 {"metrics", settings.metrics}},
                {asked.picture, asked.mask, asked.clean, asked.learn_from});
}

/// The model of --learn-from, or null.
std::shared_ptr<const PatchModel> learned_elsewhere(const std::string& path, const Picture& picture) {
  if (path.empty()) return nullptr;
  const ModelFile file = load_model(path);
  auto learned = std::make_shared<const PatchModel>(
      PatchModel{file.state.model, file.options ? file.options->inference : InferenceOptions()});
  try {
    patch_of_model(*learned, picture);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("learn-from is {}: {}", path, error.what()));
  }
  return learned;
}

/// Whether the files asked for can hold what will come out.
void check_formats(const Settings& settings, const Picture& picture) try {
  const InpaintSettings& asked = settings.inpaint;
  const auto check = [&](const std::string& path, PixelDepth depth, bool with_alpha) {
    if (path.empty() || is_picture_array(path)) return;
    Picture pixel;  // one of the same kind
    pixel.channels.assign(picture.channels.size(), Matrix::Zero(1, 1));
    if (with_alpha && picture.alpha.size() > 0) pixel.alpha = Matrix::Zero(1, 1);
    pixel.depth = depth;
    check_writable(path, pixel);
  };
  check(asked.std, std_depth(asked.std, picture.depth), false);
  check(asked.keep_damaged, picture.depth, true);
  check(settings.output, asked.depth.value_or(picture.depth), true);
} catch (const Error& error) {
  throw UsageError(error.what());
}

std::string progress_text(const Progress& now, double seconds) {
  const std::string left =
      now.fraction > 0.02 ? fmt::format(", {} left", duration_text(seconds * (1 - now.fraction) / now.fraction)) : "";
  if (now.round == 0) return fmt::format("{:3.0f} %{}  a first guess", 100 * now.fraction, left);
  return fmt::format("{:3.0f} %{}  groups of patches that look alike, round {} of {}", 100 * now.fraction, left,
                     now.round, now.rounds);
}

void say_plan(const PlannedInpainting& plan, const InpaintOptions& options, ProgressLine& progress) {
  if (plan.missing == 0 && plan.keep) return;  // that has been said
  const int threads = thread_count(options.threads);
  progress.say(
      fmt::format("{}; {}; {}; about {} on {}", missing_text(plan.missing, plan.values),
                  plan.keep ? "what is observed is kept" : fmt::format("noise of {:.3g} is taken out", plan.noise.std),
                  plan.text, duration_text(plan.seconds), counted(threads, "thread")));
  // A hint only: no measurement tells noise from fine texture where neighbours are missing.
  if (plan.keep && !options.noise && plan.noisy)
    progress.say(
        fmt::format("what is observed may have noise of up to {:.3g}, or be texture; if it is noise, "
                    "--denoise-observed or --noise-level takes it out",
                    plan.noise.std));
}

void write_result(const Settings& settings, Picture picture) {
  if (settings.inpaint.depth) set_depth(picture, *settings.inpaint.depth);
  write_bands(settings.output, picture);
}

/// What is missing is 0.
void write_damaged(const std::string& path, Picture damaged) {
  if (path.empty()) return;
  for (Matrix& channel : damaged.channels) channel = channel.array().isNaN().select(0.0, channel);
  write_bands(path, damaged);
}

Inpainted inpaint_watched(const Settings& settings, const InpaintingRun& run, const PlannedInpainting& plan,
                          ProgressLine& progress) {
  const Stopwatch stopwatch;
  ProgressWatcher watch(
      [&](const Progress& now) { progress.show(progress_text(now, stopwatch.seconds()), std::chrono::seconds(2)); });
  try {
    return naming_file(settings.inpaint.picture, [&] { return inpaint_as_planned(run.damaged, plan, &watch); });
  } catch (const Interrupted& error) {
    if (!error.picture) throw;
    write_result(settings, *error.picture);
    throw Interrupted(fmt::format("{}; {} is the picture as far as it was", error.what(), settings.output));
  }
}

}  // namespace

int run_inpaint(const CommandLine& line) {
  Settings settings = line.settings;
  settings.fit = apply(settings.learning, {});
  const InpaintSettings& asked = settings.inpaint;
  check_gap_options(line);
  InpaintOptions options = asked.options;
  options.seed = settings.fit.seed;
  options.threads = settings.fit.inference.threads;
  if (asked.keep_observed) options.keep_observed = true;
  if (asked.denoise_observed) options.keep_observed = false;
  options.validate();
  if (!asked.std.empty() && options.groups == 0)
    throw UsageError("std is given, but groups is 0, and a first guess does not know how far off it is; leave one out");
  check_files(settings);

  ProgressLine progress("inpaint", settings.quiet);
  catch_interrupts();
  DamagedPicture input = read_damaged(asked);
  if (!input.warning.empty()) progress.warn(input.warning);
  InpaintingRun run;
  run.damaged = std::move(input.damaged);
  run.clean = std::move(input.clean);
  check_formats(settings, run.damaged);
  options.learned = learned_elsewhere(asked.learn_from, run.damaged);
  const PlannedInpainting plan = naming_file(asked.picture, [&] { return plan_inpainting(run.damaged, options); });
  write_damaged(asked.keep_damaged, run.damaged);
  say_plan(plan, options, progress);
  const Stopwatch watch;
  run.inpainted = inpaint_watched(settings, run, plan, progress);
  run.seconds = watch.seconds();
  write_result(settings, run.inpainted.picture);
  if (!asked.std.empty()) {
    Picture std = run.inpainted.std;
    std.depth = std_depth(asked.std, run.damaged.depth);
    write_bands(asked.std, std);
  }
  judge(run);
  write_metrics(settings.metrics, inpaint_metrics(settings, run));
  if (!settings.report.empty()) write_report(settings.report, settings, run);
  progress.say(inpaint_summary(run));
  progress.say(fmt::format("wrote {}", settings.output));
  return kDone;
}

}  // namespace gsc::cli
