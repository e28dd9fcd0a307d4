#include <gsc/denoise.h>
#include <gsc/file_kind.h>
#include <gsc/picture_files.h>
#include <gsc/version.h>

#include <fmt/format.h>
#include <gsc/stopwatch.h>
#include <gsc/words.h>

#include <chrono>
#include <functional>
#include <memory>
#include <new>
#include <optional>

#include "checks.h"
#include "commands.h"
#include "denoise_files.h"
#include "denoise_report.h"
#include "metrics.h"
#include "noisy_picture.h"
#include "options/flags.h"
#include "program_team.h"
#include "progress.h"

namespace gsc::cli {
namespace {

/// Only TIFF can.
bool holds_fractions(const std::string& path) {
  const std::string extension = lower_extension(path);
  return extension == ".tif" || extension == ".tiff";
}

/// The standard deviations are in the units of the picture.
PixelDepth std_depth(const std::string& path, PixelDepth of_picture) {
  return holds_fractions(path) ? PixelDepth::real32 : of_picture;
}

/// The noisy picture is written as deep as the result, so that noise need not be clipped and rounded.
void write_noisy(const DenoiseSettings& asked, Picture noisy) {
  if (asked.depth && (*asked.depth != PixelDepth::real32 || holds_fractions(asked.keep_noisy)))
    set_depth(noisy, *asked.depth);
  write_picture(asked.keep_noisy, noisy);
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

/// One picture: read, denoised, written.
class PictureJob {
 public:
  /// `place` is "", or "picture 2 of 3, b.png: ".
  PictureJob(const Settings& settings, const DenoiseOptions& options, std::string place, ProgressLine& progress)
      : settings_(settings), options_(options), place_(std::move(place)), progress_(progress) {}

  /// Everything that can be found wrong before the ranks of a team depend on each other.
  void read() {
    const DenoiseSettings& asked = settings_.denoise;
    NoisyPicture input = read_noisy(asked);
    run_.noisy = std::move(input.noisy);
    run_.clean = std::move(input.clean);
    check_formats(settings_, run_.noisy);
    const Stopwatch watch;
    plan_ = naming_file(asked.picture, [&] { return plan_denoising(run_.noisy, options_); });
    seconds_measuring_ = watch.seconds();
    if (!asked.keep_noisy.empty() && team().root()) write_noisy(asked, run_.noisy);
  }

  void denoise() {
    const Stopwatch stopwatch;
    tell_plan();
    ProgressWatcher watch([&](const Progress& now) {
      progress_.show(place_ + progress_text(now, options_.learning.method(), stopwatch.seconds()),
                     std::chrono::seconds(2));
    });
    try {
      run_.denoised =
          naming_file(settings_.denoise.picture, [&] { return denoise_as_planned(run_.noisy, plan_, &watch); });
    } catch (const Interrupted& error) {
      if (!error.picture || !team().root()) throw;
      write_best(*error.picture);
      throw Interrupted(fmt::format("{}; {} is the picture as far as it was", error.what(), settings_.output));
    }
    run_.seconds = seconds_measuring_ + stopwatch.seconds();
  }

  void write() {
    const DenoiseSettings& asked = settings_.denoise;
    std::optional<Picture> other;  // of another depth
    if (asked.depth) set_depth(other.emplace(run_.denoised.picture), *asked.depth);
    write_picture(settings_.output, other ? *other : run_.denoised.picture);
    if (!asked.std.empty()) {
      Picture std = run_.denoised.std;
      std.depth = std_depth(asked.std, run_.denoised.picture.depth);
      write_picture(asked.std, std);
    }
    const Denoised::Learned& main = run_.denoised.learned.front();
    if (!settings_.save_model.empty()) save_model(settings_.save_model, {main.fit.state, main.options, GSC_VERSION});
    if (run_.clean) run_.score = score_of(*run_.clean, run_.noisy, run_.denoised.picture);
    write_metrics(settings_.metrics, denoise_metrics(settings_, run_));
    if (!settings_.report.empty()) write_report(settings_.report, settings_, run_);
    progress_.say(place_ + denoise_summary(run_));
    progress_.say(fmt::format("wrote {}", settings_.output));
  }

 private:
  void tell_plan() {
    const NoiseLevel& noise = plan_.noise;
    const bool must_tell = traits(options_.learning.method()).needs_noise_level && !noise.told;
    progress_.say(
        fmt::format("{}noise of {}{:.3g}{}{}; {}; about {} on {}", place_, noise.told ? "" : "about ", noise.std,
                    must_tell ? fmt::format(", measured, as {} must be told and --sigma is left out",
                                            to_string(options_.learning.method()))
                              : "",
                    noise.uncertain ? fmt::format(" (uncertain: {})", noise.why) : "", plan_.text,
                    duration_text(plan_.seconds), counted(thread_count(settings_.fit.inference.threads), "thread")));
    const Device device = settings_.fit.inference.device;
    if (device.kind == Device::Kind::cuda)
      progress_.say(fmt::format(
          "{}on device '{}' patches are cut out, models learned, posteriors inferred, {}patches that are "
          "alike looked for, and groups of them computed{}",
          place_, device.name, traits(options_.learning.method()).has_candidates ? "patches put back, " : "",
          options_.team->alone() ? "" : " (groups, with several processes, on the cpu)"));
  }

  /// What there was when the user had enough.
  void write_best(Picture best) {
    best.alpha = run_.noisy.alpha;
    best.metadata = run_.noisy.metadata;
    if (settings_.denoise.depth) set_depth(best, *settings_.denoise.depth);
    write_picture(settings_.output, best);
  }

  const Settings& settings_;
  const DenoiseOptions& options_;
  std::string place_;
  ProgressLine& progress_;
  PlannedDenoising plan_;
  double seconds_measuring_ = 0;
  DenoisingRun run_;
};

/// What there is only with a posterior, or with the choices of the spike-and-slab model.
void check_dictionary(const CommandLine& line, Method method) {
  if (point_estimate(method) && line.given("std"))
    throw UsageError(
        fmt::format("std is {}, but the {} method has no posterior deviation of pixels; leave it out, or "
                    "use the truncated method",
                    line.settings.denoise.std, to_string(method)));
  if (point_estimate(method) && line.given("quality"))
    throw UsageError(
        fmt::format("quality is for the spike-and-slab methods; {} follows its published protocol, and "
                    "--latents, --iterations and --patch change it",
                    to_string(method)));
}

/// Does one step of one of several pictures. Whether that worked: if not, it is told, and the next picture's turn.
bool attempt(const std::string& place, ProgressLine& progress, const std::function<void()>& step) {
  std::string message;
  try {
    step();
    return true;
  } catch (const Interrupted& error) {
    throw Interrupted(fmt::format("{}{}; the pictures before it are done", place, error.what()));
  } catch (const UsageError& error) {
    message = in_flags(error.what(), kDenoise);
  } catch (const Error& error) {
    message = error.what();
  } catch (const std::bad_alloc&) {
    message = "not enough memory";
  }
  progress.warn(fmt::format("{}failed: {}", place, message));
  return false;
}

/// All of them, whichever fail. Returns those that did.
std::vector<std::string> denoise_several(const std::vector<Settings>& each, const DenoiseOptions& options,
                                         ProgressLine& progress) {
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < each.size(); ++i) {
    const std::string& picture = each[i].denoise.picture;
    const std::string place = fmt::format("picture {} of {}, {}: ", i + 1, each.size(), picture);
    PictureJob job(each[i], options, place, progress);
    bool done = attempt(place, progress, [&] { all_or_none(team(), [&] { job.read(); }); });
    // A rank of a team that fails in its part of the work leaves the others waiting: then all of it ends.
    if (done && team().alone())
      done = attempt(place, progress, [&] { job.denoise(); });
    else if (done)
      job.denoise();
    if (done && team().root()) done = attempt(place, progress, [&] { job.write(); });
    if (!done) failed.push_back(picture);
  }
  return failed;
}

}  // namespace

int run_denoise(const CommandLine& line) {
  Settings settings = line.settings;
  check_truth_options(line);
  DenoiseOptions options = settings.denoise.options;
  options.learning = settings.learning;
  options.team = &team();
  options.validate();
  settings.fit = options.usual();
  settings.fit.sigma = options.learning.sigma.value_or(0);  // as it was told: learning has units of its own
  use_team(settings.fit);
  options.learning.inference.threads = settings.fit.inference.threads;
  check_dictionary(line, options.learning.method());
  const std::vector<Settings> each = settings_of_each(settings);
  std::vector<std::unique_ptr<OutputFolder>> folders;
  all_or_none(team(), [&] {
    if (team().root()) folders = prepare_outputs(settings, each);
  });

  ProgressLine progress("denoise", settings.quiet);
  catch_interrupts();
  if (each.size() > 1) {
    const std::vector<std::string> failed = denoise_several(each, options, progress);
    if (failed.empty()) return kDone;
    throw Error(fmt::format("{} of {} pictures failed: {}", failed.size(), each.size(), fmt::join(failed, ", ")));
  }
  PictureJob job(each.front(), options, "", progress);
  job.read();
  job.denoise();
  if (team().root()) job.write();
  return kDone;
}

}  // namespace gsc::cli
