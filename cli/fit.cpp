#include <fmt/format.h>
#include <gsc/files.h>
#include <gsc/restarts.h>
#include <gsc/stopwatch.h>
#include <gsc/version.h>
#include <gsc/words.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checks.h"
#include "commands.h"
#include "learning_report.h"
#include "metrics.h"
#include "missing.h"
#include "options/shape.h"
#include "program_team.h"
#include "progress.h"
#include "recording.h"
#include "starts.h"
#include "streams.h"

namespace gsc::cli {
namespace {

/// Shows each iteration, saves checkpoints, and stops on Ctrl-C.
class FitWatcher final : public Watcher {
 public:
  FitWatcher(const Settings& settings, const std::optional<Recording>& recording, ProgressLine& progress)
      : settings_(settings), progress_(progress) {
    if (!settings.checkpoint.empty() && team().root())
      checkpoint_.emplace(settings.checkpoint, settings.fit, settings.checkpoint_every, recording,
                          missing_signs(settings));
  }

  void on_note(const std::string& note) override { progress_.say(note); }

  void on_iteration(const FitState& state) override {
    progress_.show(iteration_text(state, settings_.fit, progress_.live()));
    if (!checkpoint_) return;
    try {
      checkpoint_->on_iteration(state);
    } catch (const Error& error) {
      // Hours of learning are worth more than the checkpoint.
      progress_.warn(fmt::format("the checkpoint could not be saved, learning goes on: {}", error.what()));
    }
  }
  bool needs_method_state(const FitState& state) override {
    return checkpoint_ && checkpoint_->needs_method_state(state);
  }
  bool stop_requested() override { return interrupted(); }

  /// Returns what to tell the user.
  std::string save(const FitState& state) const {
    if (!checkpoint_) return "nothing is saved; with --checkpoint FILE.h5 it would be";
    checkpoint_->save(state);
    return fmt::format("saved {}; go on with --resume {}", settings_.checkpoint, settings_.checkpoint);
  }

 private:
  const Settings& settings_;
  ProgressLine& progress_;
  std::optional<Checkpoint> checkpoint_;
};

/// A checkpoint; its options become the settings, those given by the user on top.
ModelFile load_checkpoint(const CommandLine& line, Settings& settings) {
  if (line.given("init")) throw UsageError("init and resume exclude each other: a checkpoint already has parameters");
  ModelFile file = load_model(settings.resume);
  if (!file.options)
    throw Error(
        fmt::format("{}: this model was not learned, so there is nothing to resume; start from it with --init {}",
                    settings.resume, settings.resume));
  settings.fit = apply(settings.learning, *file.options);
  settings.init = to_string(settings.fit.init);
  choose_missing(line, settings, &file);
  const std::vector<std::string> differing = differing_options(*file.options, settings.fit);
  if (!differing.empty())
    throw UsageError(
        fmt::format("{} was made with other options: {} differ. Leave them out to take those of the "
                    "checkpoint, or start anew without --resume",
                    settings.resume, fmt::join(differing, ", ")));
  return file;
}

/// --init: a word, or a model whose latents, noise and slab are taken, and whether it has an intercept, unless the user
/// gave others (to which fit() adapts it).
std::optional<Model> load_start(Settings& settings) {
  FitOptions preset;
  if (const std::optional<Init> word = find_word<Init>(settings.init)) {
    preset.init = *word;
    settings.fit = apply(settings.learning, preset);
    return {};
  }
  if (settings.init.find('.') == std::string::npos)
    throw UsageError(fmt::format("init is '{}'; choose {}, or a model file (.h5)", settings.init, words<Init>()));
  Model model = load_model(settings.init).state.model;
  preset.latents = model.latents();
  preset.noise = model.noise.type();
  preset.slab = model.slab.type();
  if (model.intercept.size() == 0) preset.intercept = Intercept::none;
  settings.fit = apply(settings.learning, preset);
  if (settings.fit.latents != model.latents())
    throw UsageError(fmt::format("latents is {}, but the model {} has {}; leave --latents out", settings.fit.latents,
                                 settings.init, model.latents()));
  return model;
}

void check_files(const Settings& settings) {
  // The model may go where the checkpoints went.
  for (const OutputFile& model :
       {OutputFile{"output", settings.output, kModelFiles}, OutputFile{"checkpoint", settings.checkpoint, kModelFiles}})
    check_outputs({model, {"report", settings.report, kPages}, {"metrics", settings.metrics}},
                  {settings.data, settings.mask});
}

[[noreturn]] void refuse_restarts(const char* name, const char* why, int restarts) {
  throw UsageError(fmt::format("{} {}, but restarts is {}; leave one of them out", name, why, restarts));
}

void check_restarts(const Settings& settings) {
  const int restarts = settings.restarts;
  if (restarts < 1) throw UsageError(fmt::format("restarts is {}; it must be at least 1", restarts));
  if (restarts == 1) return;
  if (!settings.checkpoint.empty()) refuse_restarts("checkpoint", "is of a single start", restarts);
  if (!settings.resume.empty()) refuse_restarts("resume", "goes on with a single start", restarts);
}

std::string announcement(const Input& input, const Settings& settings) {
  const InferenceOptions& inference = settings.fit.inference;
  const std::string states = posterior_text(inference);
  const int starts = settings.restarts;
  const int threads = std::min(thread_count(inference.threads), starts > 1 ? starts : thread_count(inference.threads));
  return fmt::format("{}, {} latents, {}, {}{}{}", input.text(), settings.fit.latents, states,
                     starts > 1 ? fmt::format("{} starts, ", starts) : "", counted(threads, "thread"),
                     processes_text());
}

/// Several starts, the best of which counts. They are not interrupted by halves.
Restarts best_of_starts(const Data& data, const Settings& settings, ProgressLine& progress) {
  StartsWatcher watcher(settings.restarts, settings.fit.iterations, settings.fit.inference.method, progress);
  const Stopwatch watch;
  Restarts result = fit_restarts(data, settings.fit, settings.restarts, &watcher);
  if (result.best.reason == StopReason::interrupted) throw Interrupted("interrupted; nothing is written");
  result.best.seconds = watch.seconds();
  return result;
}

Restarts only_start(FitResult result) {
  const IterationReport last = result.state.history.empty() ? IterationReport{} : result.last();
  return {std::move(result), 0, {last.free_energy}, {last.noise_std}};
}

}  // namespace

int run_fit(const CommandLine& line) {
  Settings settings = line.settings;
  ProgressLine progress("fit", settings.quiet);
  check_restarts(settings);
  std::optional<ModelFile> checkpoint;
  std::optional<Model> start;
  if (!settings.resume.empty())
    checkpoint = load_checkpoint(line, settings);
  else
    start = load_start(settings);
  if (!checkpoint) choose_missing(line, settings, nullptr);
  const Method method = settings.fit.inference.method;
  const std::string note = clip_truncation(settings.learning, settings.fit.inference, settings.fit.latents);
  settings.fit.validate();
  if (start && settings.restarts > 1)
    refuse_restarts("init", "is a model, from which all starts would be the same", settings.restarts);
  if (settings.checkpoint_every < 1) throw UsageError("checkpoint-every is 0; it must be at least 1");
  check_files(settings);

  use_team(settings.fit);
  Input input = open_input(line, settings, "fit", checkpoint ? &*checkpoint : nullptr, team());
  mark_missing(settings, "fit", team(), input);
  note_missing(line, settings, checkpoint ? &*checkpoint : nullptr, team(), input);
  const std::unique_ptr<Data>& data = input.data;
  if (checkpoint) input.check(checkpoint->state.model, settings.resume);
  if (start) input.check(*start, settings.init);
  if (input.recording && settings.fit.shape.rows == 0)
    settings.fit.shape = {input.recording->window, 1, input.recording->channels};
  check_shape("shape", settings.fit.shape, data->cols(), data->name());
  check_shape("show-basis", settings.show_basis, data->cols(), data->name());
  progress.say(announcement(input, settings));
  if (!note.empty()) progress.say(note);
  for (const std::string& about : input.notes) progress.say(about);

  catch_interrupts();
  FitWatcher watcher(settings, input.recording, progress);
  const Restarts starts = settings.restarts > 1 ? best_of_starts(*data, settings, progress)
                          : checkpoint ? only_start(resume(*data, settings.fit, std::move(checkpoint->state), &watcher))
                                       : only_start(fit(*data, settings.fit, &watcher, std::move(start)));
  const FitResult& result = starts.best;
  if (result.reason == StopReason::interrupted) {
    if (result.state.history.empty()) throw Interrupted("interrupted before the first iteration; nothing is saved");
    if (!team().root()) return kDone;  // what the root does about it decides
    const std::string saved = watcher.save(result.state);
    write_metrics(settings.metrics, fit_metrics(settings, *data, result));
    progress.warn(fmt::format("interrupted after iteration {}; {}", result.last().iteration, saved));
    return kInterrupted;
  }
  if (!team().root()) return kDone;
  FitOptions of_best = settings.fit;
  of_best.seed += static_cast<std::uint64_t>(starts.winner);
  const ModelFile file{result.state, of_best, GSC_VERSION, input.recording, missing_signs(settings)};
  save_model(settings.output, file);
  Json metrics = fit_metrics(settings, *data, result);
  add_starts(metrics, settings.fit.seed, starts.free_energies, starts.winner, method);
  write_metrics(settings.metrics, metrics);
  if (!settings.report.empty())
    write_learning_report(settings.report, "Model of " + data->name(), file, settings.show_basis,
                          settings.restarts > 1 ? starts.free_energies : std::vector<double>{}, settings.fit.seed);
  progress.say(fit_summary(result, static_cast<double>(data->rows()), settings.fit.inference) +
               starts_text(starts.free_energies, starts.winner, method));
  progress.say(fmt::format("wrote {}", settings.output));
  return kDone;
}

}  // namespace gsc::cli
