#include <gsc/separate.h>
#include <gsc/version.h>

#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/sound.h>
#include <gsc/stopwatch.h>
#include <gsc/words.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <filesystem>
#include <set>
#include <string_view>

#include "channels.h"
#include "checks.h"
#include "commands.h"
#include "metrics.h"
#include "options/option_values.h"
#include "output_folder.h"
#include "program_team.h"
#include "progress.h"
#include "separate_method.h"
#include "separate_report.h"
#include "starts.h"
#include "streams.h"

namespace gsc::cli {
namespace {

namespace fs = std::filesystem;
constexpr double kSoundPeak = 0.9;

/// Everything that makes no sense together.
void check_combination(const CommandLine& line, const SeparateSettings& settings) {
  const bool experiment = !settings.sources.empty();
  if (settings.files.empty() && !experiment)
    throw UsageError("nothing to separate: give MIX, or known sources as --sources REF --mix orthogonal");
  if (!settings.files.empty() && experiment)
    throw UsageError("MIX and --sources exclude each other: known sources are mixed here");
  if (experiment && settings.mix.empty())
    throw UsageError("--sources needs to know how to mix: --mix orthogonal, or --mix SIGMA for one that is less so");
  for (const char* name : {"mix", "add-noise", "mix-seed"})
    if (!experiment && line.given(name)) throw UsageError(fmt::format("{} is for --sources REF", name));
}

double perturbation_of(const std::string& mix) {
  if (find_word<Mixing>(mix)) return 0;
  try {
    return parse_value<double>("mix", mix);
  } catch (const UsageError&) {
    throw UsageError(fmt::format(
        "mix is '{}'; it must be orthogonal, or a number: how far from orthogonal, as a standard deviation", mix));
  }
}

std::string sound_name(Index source) { return fmt::format("source{}.wav", source + 1); }

std::vector<std::string> output_names(Index sources, bool model, bool sound, bool csv) {
  std::vector<std::string> names = {"sources.npy", "mixing.npy"};
  if (model) names.emplace_back("model.h5");
  names.emplace_back("metrics.json");
  if (csv) names.insert(names.end(), {"sources.csv", "mixing.csv"});
  for (Index h = 0; sound && h < sources; ++h) names.push_back(sound_name(h));
  return names;
}

/// A model that this run did not write, and sounds named like ours but beyond the `count` that it wrote. They may be
/// the user's own, so nobody removes them.
std::vector<std::string> other_results(const fs::path& folder, bool model, Index count) {
  std::set<Index> numbers;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view kStem = "source";
    Index number = 0;
    if (name.starts_with(kStem)) std::from_chars(name.data() + kStem.size(), name.data() + name.size(), number);
    if (number > count && name == sound_name(number - 1)) numbers.insert(number);
  }
  std::vector<std::string> names;
  if (!model && fs::exists(folder / "model.h5", error)) names.emplace_back("model.h5");
  for (const Index number : numbers) names.push_back(sound_name(number - 1));
  return names;
}

void check_outputs(const OutputFolder& folder, const std::vector<std::string>& names, const Settings& settings) {
  std::vector<std::string> inputs = settings.separate.files;
  if (!settings.separate.sources.empty()) inputs.push_back(settings.separate.sources);
  std::vector<OutputFile> outputs = {{"metrics", settings.metrics}, {"report", settings.report, kPages}};
  for (const std::string& name : names) outputs.push_back({"output", folder.file(name)});
  check_outputs(outputs, inputs);
}

std::string announcement(const Channels& channels, const FitOptions& fit, const SeparateOptions& options) {
  const InferenceOptions& inference = fit.inference;
  const bool model = options.method == SeparateMethod::model;
  const std::string how = model ? fmt::format("{}, {}", posterior_text(inference), counted(options.restarts, "start"))
                                : fastica_text(options.fastica);
  const int threads = std::min(thread_count(inference.threads), model ? options.restarts : INT_MAX);
  return fmt::format("{} channels, {} samples, {} sources to find, {}, {}{}", channels.values.rows(),
                     channels.values.cols(), fit.latents, how, counted(threads, "thread"), processes_text());
}

void write_sounds(const OutputFolder& folder, const Matrix& sources, int rate) {
  for (Index h = 0; h < sources.rows(); ++h) {
    const double peak = sources.row(h).cwiseAbs().maxCoeff();
    const double gain = peak > 0 ? kSoundPeak / peak : 0;
    write_sound(folder.file(sound_name(h)), {gain * sources.row(h), rate});
  }
}

/// A column is a source, in both: the header of either fits the sounds.
void write_csv(const OutputFolder& folder, const Separation& separation) {
  std::vector<std::string> names;
  for (Index h = 0; h < separation.sources.rows(); ++h) names.push_back(fmt::format("source{}", h + 1));
  const Matrix columns = separation.sources.transpose();
  write_arrays(folder.file("sources.csv"), {named("source", columns)}, names);
  write_arrays(folder.file("mixing.csv"), {named("source", separation.mixing)}, names);
}

void write_results(const OutputFolder& folder, const Settings& settings, const Separation& separation, int rate) {
  write_arrays(folder.file("sources.npy"), {named("sources", separation.sources)});
  write_arrays(folder.file("mixing.npy"), {named("mixing", separation.mixing)});
  if (has_model(separation))
    save_model(folder.file("model.h5"), {separation.fit.state, separation.options, GSC_VERSION});
  if (settings.separate.csv) write_csv(folder, separation);
  if (rate > 0) write_sounds(folder, separation.sources, rate);
}

}  // namespace

int run_separate(const CommandLine& line) {
  Settings settings = line.settings;
  SeparateSettings& asked = settings.separate;
  ProgressLine progress("separate", settings.quiet);
  check_combination(line, asked);
  check_method_options(line, asked);
  const bool experiment = !asked.sources.empty();
  if (experiment) perturbation_of(asked.mix);

  Channels channels = read_channels(experiment ? std::vector{asked.sources} : asked.files, settings);
  check_mixture(channels.values, channels.name, asked.offset);
  if (asked.normalise) normalise(channels.values, channels.name + (experiment ? ": source" : ": channel"));
  std::optional<KnownMixture> truth;
  if (experiment) {
    truth = mix(std::move(channels.values), perturbation_of(asked.mix), asked.add_noise, asked.mix_seed);
    channels.values = truth->mixture;
  }
  check_mixture(channels.values, channels.name, asked.offset, asked.whiten);  // separate() does not know the name
  SeparateOptions options;
  options.learning = settings.learning;
  options.team = &team();
  options.restarts = asked.restarts;
  options.whiten = asked.whiten;
  const std::string note = set_method(settings, channels.values.rows(), options);
  const bool model = options.method == SeparateMethod::model, sound = channels.sound_rate > 0;
  const OutputFolder folder("output", settings.output);
  if (team().root()) check_outputs(folder, output_names(settings.fit.latents, model, sound, asked.csv), settings);
  for (const std::string& guess : channels.notes) progress.say(guess);
  progress.say(announcement(channels, settings.fit, options));
  if (!note.empty()) progress.say(note);

  catch_interrupts();
  StartsWatcher watcher(options.restarts, settings.fit.iterations, settings.fit.inference.method, progress);
  const Stopwatch watch;
  Separation separation = separate(channels.values, options, &watcher);
  separation.fit.seconds = watch.seconds();
  if (separation.fit.reason == StopReason::interrupted) throw Interrupted("interrupted; nothing is written");

  if (!team().root()) return kDone;
  std::optional<SeparationScore> score;
  if (truth) score = score_of(*truth, separation);
  write_results(folder, settings, separation, channels.sound_rate);
  const Json metrics = separate_metrics(settings, channels, separation, score);
  write_metrics(folder.file("metrics.json"), metrics);
  write_metrics(settings.metrics, metrics);
  if (!settings.report.empty()) write_separation_report(settings.report, settings, channels, separation, score);
  progress.say(separate_summary(separation, static_cast<double>(channels.values.cols())));
  if (score) progress.say(score_text(*score));
  for (const std::string& known : separation.notes)
    if (!watcher.told(known)) progress.say(known);
  const Index found = separation.sources.rows();
  progress.say(
      fmt::format("wrote {}: {}", settings.output, fmt::join(output_names(found, model, sound, asked.csv), ", ")));
  const auto others = other_results(folder.path(), model, sound ? found : 0);
  if (!others.empty())
    progress.say(fmt::format("{} also holds {}, not of this run; remove what an earlier run has left there",
                             settings.output, fmt::join(others, ", ")));
  return kDone;
}

}  // namespace gsc::cli
