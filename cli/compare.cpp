#include "compare.h"

#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/metrics.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "checks.h"
#include "commands.h"
#include "compare_options.h"
#include "interrupts.h"
#include "metrics.h"
#include "open_table.h"
#include "option_values.h"
#include "progress.h"
#include "shape.h"
#include "streams.h"
#include "tasks/denoise_plan.h"

namespace gsc::cli {
namespace {

using Clock = std::chrono::steady_clock;

/// "truncated,factored" -> both.
std::vector<Method> parse_methods(const std::string& text) {
  std::vector<Method> methods;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    const auto method = parse_value<Method>("methods", word);
    if (std::find(methods.begin(), methods.end(), method) != methods.end())
      throw UsageError(fmt::format("methods is {}, which names {} twice", text, word));
    methods.push_back(method);
    begin = end + 1;
  }
  if (methods.size() < 2)
    throw UsageError(fmt::format("methods is {}; give two or more to compare, with commas between them", text));
  return methods;
}

void check_outputs(const Settings& settings) {
  if (!is_stream(settings.output)) check_output("output", settings.output, {".json"});
  check_output("report", settings.report, {".html", ".htm"});
  check_distinct({settings.output, settings.report});
  for (const std::string& output : {settings.output, settings.report})
    for (const std::string& input : {settings.compare.input, settings.compare.truth, settings.denoise.clean})
      check_not_input(output, input);
}

/// Shows each iteration behind the method's name, and stops on Ctrl-C.
class CompareObserver final : public Observer {
 public:
  CompareObserver(const FitOptions& options, ProgressLine& progress) : options_(options), progress_(progress) {}
  void on_iteration(const FitState& state) override {
    progress_.show(
        fmt::format("{}: {}", to_string(options_.inference.method), iteration_text(state, options_, progress_.live())));
  }
  bool stop_requested() override { return interrupted(); }

 private:
  const FitOptions& options_;
  ProgressLine& progress_;
};

/// The generating basis, or nothing. Makes `latents` fit to it where the user left them out.
std::optional<Matrix> read_truth(const CommandLine& line, Settings& settings, Index dimensions) {
  const std::string& file = settings.compare.truth;
  if (file.empty()) return {};
  const std::unique_ptr<Data> table = open_data(file);
  if (table->rows() != dimensions || table->cols() != dimensions)
    throw Error(
        fmt::format("{} is {} x {}, but the data has {} dimensions; the Amari index needs a square basis of "
                    "{} x {}",
                    file, table->rows(), table->cols(), dimensions, dimensions, dimensions));
  if (!line.given("latents")) settings.fit.latents = dimensions;
  if (settings.fit.latents != dimensions)
    throw UsageError(fmt::format("latents is {}, but truth has {}, and the Amari index needs as many; leave one out",
                                 settings.fit.latents, dimensions));
  Matrix truth(dimensions, dimensions);
  table->read(0, truth);
  naming_file(file, [&] { return amari_index(Matrix::Identity(dimensions, dimensions), truth); });
  return truth;
}

Judge amari_judge(const std::optional<Matrix>& truth) {
  if (!truth) return {};
  return [&](const Model& model) -> std::optional<double> {
    try {
      return amari_index(model.W, *truth);
    } catch (const Error&) {  // a singular W has none
      return {};
    }
  };
}

std::string threads_text(int requested) {
  const int threads = thread_count(requested);
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

Comparison compare_on_table(const CommandLine& line, Settings& settings, const std::vector<Method>& methods,
                            ProgressLine& progress) {
  const std::unique_ptr<Data> data = open_table(settings.compare.input, settings, "compare");
  const std::optional<Matrix> truth = read_truth(line, settings, data->cols());
  FitOptions& common = settings.fit;
  common.init = parse<Init>(settings.init, "init");
  check_shape("shape", common.factored.shape, data->cols(), data->name());
  check_shape("show-basis", settings.show_basis, data->cols(), data->name());
  std::string note;
  if (std::find(methods.begin(), methods.end(), Method::truncated) != methods.end())
    note = clip_truncation(line, common.inference, common.latents);
  common.inference = common.inference.resolved(common.latents);
  Comparison result;
  result.measure = truth ? Measure::amari : Measure::free_energy;
  result.data_points = data->rows();
  result.dimensions = data->cols();
  for (const Method method : methods) {
    MethodRun& run = result.runs.emplace_back();
    run.options = common;
    run.options.inference.method = method;
    run.options.validate();
  }
  progress.say(fmt::format("{} of {} dimensions, {} latents, {}", data_points_text(data->rows()), data->cols(),
                           common.latents, threads_text(common.inference.threads)));
  if (const std::string turned = orientation_note(*data, settings.transpose); !turned.empty()) progress.say(turned);
  if (!note.empty()) progress.say(note);

  catch_interrupts();
  for (MethodRun& run : result.runs) {
    CompareObserver observer(run.options, progress);
    FitCourse course = fit_with_curve(*data, run.options, amari_judge(truth), &observer);
    if (course.fit.reason == StopReason::interrupted) throw Interrupted("interrupted while learning");
    run.fit = std::move(course.fit);
    run.curve = std::move(course.curve);
  }
  return result;
}

Comparison compare_on_picture(Settings& settings, const std::vector<Method>& methods, ProgressLine& progress) {
  DenoiseSettings& asked = settings.denoise;
  asked.picture = settings.compare.input;
  asked.options.models = 1;
  asked.options.seed = settings.fit.seed;
  asked.options.threads = settings.fit.inference.threads;
  asked.options.validate();
  Comparison result;
  result.picture = read_noisy(asked);
  const Picture& noisy = result.picture->noisy;
  const std::optional<Picture>& clean = result.picture->clean;
  result.measure = clean ? Measure::psnr : Measure::free_energy;
  const auto options_of = [&](Method method) {
    DenoiseOptions options = asked.options;
    options.method = method;
    return options;
  };
  for (const Method method : methods) {
    const ModelPlan plan = naming_file(
        asked.picture, [&] { return plan_denoising(noisy, options_of(method), estimate_noise(noisy)).front(); });
    result.patch = plan.patch;
    result.runs.emplace_back().options = plan.fit;
  }
  progress.say(fmt::format("{0} x {1} pixels, patches of {2} x {2}, {3} latents, {4}", noisy.width(), noisy.height(),
                           result.patch, result.runs.front().options.latents, threads_text(asked.options.threads)));

  catch_interrupts();
  for (MethodRun& run : result.runs) {
    CompareObserver observer(run.options, progress);
    const auto watch = [&](const DenoiseProgress& now) {
      const char* stage = now.fraction < 1 ? "denoising the patches" : "judging the models of earlier iterations";
      if (now.state != nullptr)
        observer.on_iteration(*now.state);
      else
        progress.show(fmt::format("{}: {}", run.name(), stage), std::chrono::seconds(2));
      return !interrupted();
    };
    DenoisingCourse course = naming_file(asked.picture, [&] {
      return denoise_with_curve(noisy, clean, options_of(run.options.inference.method), watch);
    });
    run.fit = std::move(course.denoised.learned.front().fit);
    run.curve = std::move(course.curve);
    run.picture = std::move(course.denoised.picture);
    run.seconds_inferring = course.denoised.learned.front().seconds_inferring;
    if (clean) run.score = score_of(*clean, noisy, run.picture);
  }
  return result;
}

}  // namespace

int run_compare(const CommandLine& line) {
  Settings settings = line.settings;
  const std::vector<Method> methods = parse_methods(settings.compare.methods);
  const bool picture = is_picture(settings.compare.input);
  check_kind(line, picture);
  check_truth_options(line);
  check_outputs(settings);

  ProgressLine progress("compare", settings.quiet);
  const auto start = Clock::now();
  Comparison result =
      picture ? compare_on_picture(settings, methods, progress) : compare_on_table(line, settings, methods, progress);
  std::vector<LearningCurve> curves;
  for (const MethodRun& run : result.runs) curves.push_back(run.curve);
  const std::vector<Race> races = race(curves, result.measure);
  for (std::size_t i = 0; i < races.size(); ++i) result.runs[i].race = races[i];
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();

  write_metrics(settings.output, comparison_json(settings, result));
  if (!settings.report.empty()) write_comparison_report(settings.report, settings, result);
  progress.finish();
  if (!settings.quiet) is_stream(settings.output) ? talk(comparison_text(result)) : put(comparison_text(result));
  std::fflush(stdout);  // before what follows on standard error
  for (const std::string& file : {settings.output, settings.report})
    if (!file.empty() && !is_stream(file)) progress.say(fmt::format("wrote {}", file));
  return kDone;
}

}  // namespace gsc::cli
