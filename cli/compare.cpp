#include "compare.h"

#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/metrics.h>
#include <gsc/option_list.h>
#include <gsc/separate.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <utility>

#include "checks.h"
#include "commands.h"
#include "interrupts.h"
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

using Clock = std::chrono::steady_clock;

std::vector<std::string_view> words_of(const std::vector<Method>& methods) {
  std::vector<std::string_view> words;
  words.reserve(methods.size());
  for (const Method method : methods) words.push_back(to_string(method));
  return words;
}

struct Compete {
  std::vector<Method> methods;  ///< that learn a model
  bool fastica = false;
};

/// "truncated,factored" -> both.
Compete parse_methods(const std::string& text) {
  Compete compete;
  std::vector<Method>& methods = compete.methods;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    bool twice = false;
    if (word == to_string(SeparateMethod::fastica)) {
      twice = std::exchange(compete.fastica, true);
    } else {
      const auto method = parse_value<Method>("methods", word);
      twice = std::find(methods.begin(), methods.end(), method) != methods.end();
      methods.push_back(method);
    }
    if (twice) throw UsageError(fmt::format("methods is {}, which names {} twice", text, word));
    begin = end + 1;
  }
  if (methods.empty())
    throw UsageError(fmt::format("methods is {}; give one at least that learns a model, as exact", text));
  if (methods.size() + (compete.fastica ? 1 : 0) < 2)
    throw UsageError(fmt::format("methods is {}; give two or more to compare, with commas between them", text));
  return compete;
}

/// Options that none of the methods reads; those of pictures are called as those of tables.
void check_read(const CommandLine& line, const std::vector<Method>& methods) {
  for (const OptionDescription& option : fit_option_list()) {
    std::string name = option.name;
    std::replace(name.begin(), name.end(), '_', '-');
    if (option.methods.empty() || option.kind == OptionKind::shape || !line.given(name)) continue;
    if (std::find_first_of(methods.begin(), methods.end(), option.methods.begin(), option.methods.end()) ==
        methods.end())
      throw UsageError(fmt::format("{} is for {}, none of which is compared; leave it out, or add one to methods", name,
                                   fmt::join(words_of(option.methods), ", ")));
  }
}

void check_outputs(const Settings& settings) {
  if (!is_stream(settings.output)) check_output("output", settings.output, {".json"});
  check_output("report", settings.report, {".html", ".htm"});
  check_distinct({settings.output, settings.report});
  for (const std::string& output : {settings.output, settings.report})
    for (const std::string& input : {settings.compare.input, settings.compare.truth, settings.denoise.clean})
      check_not_input(output, input);
}

std::string timed_text(const FitState& state, const FitOptions& options) {
  double seconds = 0;
  for (const IterationReport& row : state.history) seconds += row.seconds;
  const IterationReport& now = state.history.back();
  return fmt::format("iteration {}, {:.1f} s  {} {:.9g}", now.iteration, seconds,
                     objective_text(options.inference.method), now.free_energy);
}

/// Shows each iteration behind the method's name, and stops on Ctrl-C. What `plan` gives is said when learning begins.
class CompareProgress final : public CompareObserver {
 public:
  using Plan = std::function<std::vector<std::string>(const Comparison&)>;
  CompareProgress(Plan plan, ProgressLine& progress) : plan_(std::move(plan)), progress_(progress) {}
  void on_plan(const Comparison& comparison) override {
    for (const std::string& line : plan_(comparison)) progress_.say(line);
    catch_interrupts();
  }
  void on_iteration(const MethodRun& run, const FitState& state) override {
    // Within seconds there may be thousands.
    const bool timed = run.options.iterations == kEndless;
    progress_.show(
        fmt::format("{}: {}", to_string(run.method()),
                    timed ? timed_text(state, run.options) : iteration_text(state, run.options, progress_.live())),
        std::chrono::seconds(timed && state.history.back().iteration > 0 ? 1 : 0));
  }
  void on_denoising(const MethodRun& run, bool judging) override {
    progress_.show(fmt::format("{}: {}", to_string(run.method()),
                               judging ? "judging the models of earlier iterations" : "denoising the patches"),
                   std::chrono::seconds(2));
  }
  void on_note(const MethodRun& run, const std::string& note) override {
    progress_.say(fmt::format("{}: {}", to_string(run.method()), note));
  }
  bool stop_requested() override { return interrupted(); }

 private:
  Plan plan_;
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

std::string threads_text(int requested) {
  const int threads = thread_count(requested);
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

Compared on_table(const CommandLine& line, Settings& settings, const Compete& compete, ProgressLine& progress) {
  const std::vector<Method>& methods = compete.methods;
  choose_missing(line, settings, nullptr);
  Input input;
  input.data = open_table(settings.compare.input, settings, "compare");
  mark_missing(settings, "compare", team(), input);
  note_missing(line, settings, nullptr, team(), input);
  for (const std::string& about : input.notes) progress.say(about);
  const std::unique_ptr<Data>& data = input.data;
  const std::optional<Matrix> truth = read_truth(line, settings, data->cols());
  FitOptions& common = settings.fit;
  common.init = parse<Init>(settings.init, "init");
  check_shape("shape", common.factored.shape, data->cols(), data->name());
  check_shape("show-basis", settings.show_basis, data->cols(), data->name());
  std::string note;
  if (std::find(methods.begin(), methods.end(), Method::truncated) != methods.end())
    note = clip_truncation(line, common.inference, common.latents);
  common.inference = common.inference.resolved(common.latents);
  const auto plan = [&](const Comparison&) {
    std::vector<std::string> lines = {fmt::format("{} of {} dimensions, {} latents, {}", data_points_text(data->rows()),
                                                  data->cols(), common.latents,
                                                  threads_text(common.inference.threads))};
    for (const std::string& more : {orientation_note(*data, settings.transpose), note})
      if (!more.empty()) lines.push_back(more);
    return lines;
  };
  CompareProgress watch(plan, progress);
  Compared result;
  result.data_points = data->rows();
  result.dimensions = data->cols();
  result.comparison = compare_on_table(*data, common, methods, truth, watch, settings.compare.seconds, compete.fastica);
  return result;
}

Compared on_picture(const CommandLine& line, Settings& settings, const std::vector<Method>& methods,
                    ProgressLine& progress) {
  DenoiseSettings& asked = settings.denoise;
  asked.picture = settings.compare.input;
  asked.options.models = 1;
  asked.options.coding_chosen = line.given("coding");
  asked.options.seed = settings.fit.seed;
  asked.options.threads = settings.fit.inference.threads;
  asked.options.validate();
  Compared result;
  result.picture = read_noisy(asked);
  const Picture& noisy = result.picture->noisy;
  const auto plan = [&](const Comparison& comparison) {
    return std::vector{fmt::format("{0} x {1} pixels, patches of {2} x {2}, {3} latents, {4}", noisy.width(),
                                   noisy.height(), comparison.patch, comparison.runs.front().options.latents,
                                   threads_text(asked.options.threads))};
  };
  CompareProgress watch(plan, progress);
  result.comparison = naming_file(asked.picture, [&] {
    return compare_on_picture(noisy, result.picture->clean, asked.options, methods,
                              settings.compare.curve || settings.compare.seconds > 0, watch, settings.compare.seconds);
  });
  return result;
}

}  // namespace

int run_compare(const CommandLine& line) {
  Settings settings = line.settings;
  const Compete compete = parse_methods(settings.compare.methods);
  const std::vector<Method>& methods = compete.methods;
  const bool picture = is_picture(settings.compare.input);
  if (picture && compete.fastica)
    throw UsageError(fmt::format("methods names fastica, which is for mixtures, but {} is a picture; leave it out",
                                 settings.compare.input));
  check_kind(line, picture);
  check_read(line, methods);
  check_sigma(line, picture ? settings.denoise.options.sigma.value_or(0) : settings.fit.known_noise);
  if (line.given("sigma") && std::none_of(methods.begin(), methods.end(), needs_noise_level))
    throw UsageError(
        "sigma is for methods that must be told the noise (ksvd, online), none of which is compared; leave it out");
  check_truth_options(line);
  check_outputs(settings);
  if (line.given("seconds") && !(settings.compare.seconds > 0))
    throw UsageError("seconds is 0; give each method some time, or leave it out");
  if (line.given("seconds") && !line.given("iterations"))
    settings.fit.iterations = kEndless, settings.denoise.options.iterations = kEndless;

  ProgressLine progress("compare", settings.quiet);
  const auto start = Clock::now();
  Compared result =
      picture ? on_picture(line, settings, methods, progress) : on_table(line, settings, compete, progress);
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();

  write_metrics(settings.output, comparison_json(settings, result));
  if (!settings.report.empty()) write_comparison_report(settings.report, settings, result);
  progress.finish();
  const std::string table = comparison_text(result.comparison);
  if (!settings.quiet) is_stream(settings.output) ? talk(table) : put(table);
  std::fflush(stdout);  // before what follows on standard error
  for (const std::string& file : {settings.output, settings.report})
    if (!file.empty() && !is_stream(file)) progress.say(fmt::format("wrote {}", file));
  return kDone;
}

}  // namespace gsc::cli
