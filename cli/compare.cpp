#include "compare.h"

#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/metrics.h>
#include <gsc/option_list.h>
#include <gsc/stopwatch.h>
#include <gsc/words.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "checks.h"
#include "commands.h"
#include "denoise_report.h"
#include "metrics.h"
#include "missing.h"
#include "open_table.h"
#include "options/compare_options.h"
#include "options/option_values.h"
#include "options/shape.h"
#include "program_team.h"
#include "progress.h"
#include "streams.h"

namespace gsc::cli {
namespace {

/// "truncated,factored" -> both.
std::vector<Method> parse_methods(const std::string& text) {
  std::vector<Method> methods;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto method = parse_value<Method>("methods", text.substr(begin, end - begin));
    if (std::find(methods.begin(), methods.end(), method) != methods.end())
      throw UsageError(fmt::format("methods is {}, which names {} twice", text, to_string(method)));
    methods.push_back(method);
    begin = end + 1;
  }
  if (methods.size() < 2)
    throw UsageError(fmt::format("methods is {}; give two or more to compare, with commas between them", text));
  return methods;
}

/// Options that none of the methods reads; those of pictures are called as those of tables.
void check_read(const CommandLine& line, const std::vector<Method>& methods) {
  for (const OptionDescription& option : fit_option_list()) {
    std::string name = option.name;
    std::replace(name.begin(), name.end(), '_', '-');
    if (option.methods.empty() || !line.given(name)) continue;
    if (std::find_first_of(methods.begin(), methods.end(), option.methods.begin(), option.methods.end()) ==
        methods.end()) {
      std::vector<std::string_view> words;
      for (const Method method : option.methods) words.push_back(to_string(method));
      throw UsageError(fmt::format("{} is for {}, none of which is compared; leave it out, or add one to methods", name,
                                   fmt::join(words, ", ")));
    }
  }
}

/// Ends the comparison on Ctrl-C.
class Stop : public Watcher {
 public:
  bool stop_requested() final { return interrupted(); }
};

/// Shows each iteration behind the method's name.
class MethodProgress final : public Stop {
 public:
  MethodProgress(const MethodRun& run, ProgressLine& progress) : run_(run), progress_(progress) {}
  void on_iteration(const FitState& state) override {
    progress_.show(named(iteration_text(state, run_.options, progress_.live())));
  }
  void on_note(const std::string& note) override { progress_.say(named(note)); }

 private:
  std::string named(const std::string& text) const { return fmt::format("{}: {}", to_string(run_.method()), text); }

  const MethodRun& run_;
  ProgressLine& progress_;
};

/// The generating basis, or nothing. Makes `latents` fit to it where the user left them out.
std::optional<Matrix> read_truth(Settings& settings, Index dimensions) {
  const std::string& file = settings.compare.truth;
  if (file.empty()) return {};
  const std::unique_ptr<Data> table = open_data(file);
  if (table->rows() != dimensions || table->cols() != dimensions)
    throw Error(
        fmt::format("{} is {} x {}, but the data has {} dimensions; the Amari index needs a square basis of "
                    "{} x {}",
                    file, table->rows(), table->cols(), dimensions, dimensions, dimensions));
  if (!settings.learning.latents) settings.fit.latents = dimensions;
  if (settings.fit.latents != dimensions)
    throw UsageError(fmt::format("latents is {}, but truth has {}, and the Amari index needs as many; leave one out",
                                 settings.fit.latents, dimensions));
  Matrix truth(dimensions, dimensions);
  table->read(0, truth);
  naming_file(file, [&] { return amari_index(Matrix::Identity(dimensions, dimensions), truth); });
  return truth;
}

/// Whether the noise level is for others to say.
bool is_told(const InferenceOptions& inference) {
  return traits(inference.method).needs_noise_level && !codes_by_lambda(inference);
}

/// `learning` goes on top, each choice for the methods that read it.
std::vector<MethodRun> plan_on_table(const FitOptions& common, const LearningChoices& learning,
                                     const std::vector<Method>& methods) {
  std::vector<MethodRun> runs(methods.size());
  for (std::size_t i = 0; i < methods.size(); ++i) {
    FitOptions& options = runs[i].options = apply(choices_for(learning, methods[i]), options_for(common, methods[i]));
    if (!is_told(options.inference)) options.sigma = 0;
    if (is_told(options.inference))
      runs[i].noise = options.sigma > 0 ? "told" : "estimated";
    else if (!traits(methods[i]).needs_noise_level)
      runs[i].noise = "learned";
    options.validate();
  }
  return runs;
}

FitResult fit_unless_stopped(const Data& data, const FitOptions& options, Watcher& watch) {
  FitResult result = fit(data, options, &watch);
  if (result.reason == StopReason::interrupted) throw Interrupted("interrupted while learning");
  return result;
}

/// What a method refuses of the data (a lambda that leaves no code, more atoms than data points) shows in its start: so
/// it is known before others have learned for an hour. Those of the spike-and-slab model take any data.
void try_starts(const Data& data, const std::vector<MethodRun>& runs) {
  Stop watch;
  for (const MethodRun& run : runs) {
    FitOptions start = run.options;
    start.iterations = 0;
    if (!spike_and_slab(run.method())) fit_unless_stopped(data, start, watch);
  }
}

/// A singular basis has none.
std::optional<double> amari_of(const Matrix& found, const Matrix& truth) try {
  return amari_index(found, truth);
} catch (const Error&) {
  return {};
}

Comparison on_table(const CommandLine& line, Settings& settings, const std::vector<Method>& methods,
                    ProgressLine& progress) {
  LearningChoices of_all = choices_for(settings.learning, kUsualMethod);
  of_all.sigma.reset();
  settings.fit = apply(of_all, {});
  settings.init = to_string(settings.fit.init);
  choose_missing(line, settings, nullptr);
  Input input;
  input.data = open_table(settings.compare.input, settings, "compare");
  mark_missing(settings, "compare", team(), input);
  note_missing(line, settings, nullptr, team(), input);
  for (const std::string& about : input.notes) progress.say(about);
  const Data& data = *input.data;
  const std::optional<Matrix> truth = read_truth(settings, data.cols());
  FitOptions& common = settings.fit;
  check_shape("shape", common.shape, data.cols(), data.name());
  check_shape("show-basis", settings.show_basis, data.cols(), data.name());
  std::string note;
  if (std::any_of(methods.begin(), methods.end(), [](Method method) { return traits(method).has_candidates; }))
    note = clip_truncation(settings.learning, common.inference, common.latents);
  common.inference = common.inference.resolved(common.latents);
  Comparison result;
  result.data_points = data.rows();
  result.dimensions = data.cols();
  if (truth) result.measure = "amari";
  result.runs = plan_on_table(common, settings.learning, methods);
  catch_interrupts();
  try_starts(data, result.runs);
  progress.say(fmt::format("{} of {} dimensions, {} latents, {}", data_points_text(data.rows()), data.cols(),
                           common.latents, counted(thread_count(common.inference.threads), "thread")));
  for (const std::string& more : {orientation_note(data, settings.transpose), note})
    if (!more.empty()) progress.say(more);
  for (MethodRun& run : result.runs) {
    MethodProgress watch(run, progress);
    run.fit = fit_unless_stopped(data, run.options, watch);
    if (truth) run.amari = amari_of(run.fit.model().W, *truth);
  }
  return result;
}

/// On equal terms: what all methods can do, and of the options those that this one reads.
DenoiseOptions options_on_picture(const DenoiseOptions& common, Method method) {
  DenoiseOptions options = common;
  options.models = 1;
  options.nonlocal = options.groups = 0;
  if (spike_and_slab(method)) options.noise = NoiseSource::learned;
  LearningChoices& chosen = options.learning;
  chosen = choices_for(common.learning, method);
  if (spike_and_slab(method)) chosen.batch = 0;
  chosen.sigma = traits(method).needs_noise_level ? common.learning.sigma : std::nullopt;
  if (!point_estimate(method) || traits(method).coding) return options;
  // Whatever it learns by, pictures are coded to an error in the end.
  chosen.inference.coding.error_gain = common.learning.inference.coding.error_gain;
  chosen.inference.coding.atoms_per_point = common.learning.inference.coding.atoms_per_point;
  return options;
}

void denoise_by(const PlannedDenoising& plan, const NoisyPicture& input, ProgressLine& progress, MethodRun& run) {
  const std::string name(to_string(run.method()));
  const Stopwatch time;
  ProgressWatcher watch([&](const Progress& now) {
    progress.show(fmt::format("{}: {}", name, progress_text(now, run.method(), time.seconds())),
                  std::chrono::seconds(2));
  });
  Denoised denoised = denoise_as_planned(input.noisy, plan, &watch);
  Denoised::Learned& learned = denoised.learned.front();
  run.options = learned.options;
  run.fit = std::move(learned.fit);
  run.patch = learned.patch;
  run.seconds_inferring = learned.seconds_inferring;
  run.picture = std::move(denoised.picture);
  if (input.clean) run.score = score_of(*input.clean, input.noisy, run.picture);
}

Comparison on_picture(const CommandLine& /*line*/, Settings& settings, const std::vector<Method>& methods,
                      ProgressLine& progress) {
  DenoiseSettings& asked = settings.denoise;
  asked.picture = settings.compare.input;
  asked.options.learning = settings.learning;
  settings.fit = asked.options.usual();
  Comparison result;
  const NoisyPicture& input = result.picture.emplace(read_noisy(asked));
  if (input.clean) result.measure = "psnr";
  naming_file(asked.picture, [&] {
    std::vector<PlannedDenoising> plans;
    for (const Method method : methods) {
      plans.push_back(plan_denoising(input.noisy, options_on_picture(asked.options, method)));
      MethodRun& run = result.runs.emplace_back();
      run.options.inference.method = method;
      // Also where they learn by a lasso: lambda follows from it, or patches are coded by it in the end.
      run.noise = !traits(method).needs_noise_level ? "learned" : asked.options.learning.sigma ? "told" : "measured";
    }
    catch_interrupts();
    progress.say(fmt::format("{} x {} pixels, {}", input.noisy.width(), input.noisy.height(),
                             counted(thread_count(settings.fit.inference.threads), "thread")));
    for (std::size_t i = 0; i < plans.size(); ++i) {
      progress.say(fmt::format("{}: {}", to_string(methods[i]), plans[i].text));
      denoise_by(plans[i], input, progress, result.runs[i]);
    }
  });
  return result;
}

}  // namespace

int run_compare(const CommandLine& line) {
  Settings settings = line.settings;
  const std::vector<Method> methods = parse_methods(settings.compare.methods);
  const bool picture = is_picture(settings.compare.input);
  check_kind(line, picture);
  check_read(line, methods);
  if (line.given("sigma") &&
      std::none_of(methods.begin(), methods.end(), [](Method method) { return traits(method).needs_noise_level; }))
    throw UsageError(
        "sigma is for methods that must be told the noise (ksvd, online), none of which is compared; leave it out");
  check_truth_options(line);
  check_outputs(
      {{"output", is_stream(settings.output) ? "" : settings.output, {".json"}}, {"report", settings.report, kPages}},
      {settings.compare.input, settings.compare.truth, settings.denoise.clean});

  ProgressLine progress("compare", settings.quiet);
  const Stopwatch time;
  Comparison result = (picture ? on_picture : on_table)(line, settings, methods, progress);
  result.seconds = time.seconds();

  write_metrics(settings.output, comparison_json(settings, result));
  if (!settings.report.empty()) write_comparison_report(settings.report, settings, result);
  progress.finish();
  const std::string table = comparison_text(result);
  if (!settings.quiet) is_stream(settings.output) ? talk(table) : put(table);
  std::fflush(stdout);  // before what follows on standard error
  for (const std::string& file : {settings.output, settings.report})
    if (!file.empty() && !is_stream(file)) progress.say(fmt::format("wrote {}", file));
  return kDone;
}

}  // namespace gsc::cli
