#include "reproduce.h"

#include <fmt/format.h>
#include <gsc/words.h>

#include <cstdlib>

#include "commands.h"
#include "program_team.h"
#include "progress.h"

namespace gsc::cli {
namespace {

namespace fs = std::filesystem;
using experiments::Experiment;

void print_list() {
  for (const auto& experiment : experiments::all_experiments())
    fmt::print("{:<18} {:<26} {}\n", experiment->name(), experiment->place(), experiment->title());
}

experiments::Request request_of(const Settings& settings) {
  const ReproduceSettings& asked = settings.reproduce;
  experiments::Request request;
  const char* variable = std::getenv("GSC_DATA");
  request.data = !asked.data.empty() ? asked.data : variable != nullptr ? variable : "";
  request.quick = asked.quick;
  request.trials = asked.trials;
  request.seed = settings.learning.seed.value_or(FitOptions().seed);
  FitOptions of_team = apply(settings.learning, {});
  use_team(of_team);
  request.team = &team();
  request.threads = thread_count(of_team.inference.threads);
  std::error_code error;
  if (!asked.data.empty() && !fs::is_directory(request.data, error))
    throw UsageError(fmt::format("data is {}: there is no such folder", asked.data));
  if (request.trials && *request.trials < 1) throw UsageError("trials is 0; it must be at least 1");
  return request;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(folder, error))
    throw UsageError(fmt::format("output is {}: the folder cannot be made; choose another place", folder));
}

std::string skipped_text(const Experiment& experiment, const std::string& file, const experiments::Request& request) {
  return fmt::format(
      "{} is skipped: it needs {} of the benchmark data{}; give the folder with --data DIR, or use --quick",
      experiment.name(), file, request.data.empty() ? "" : fmt::format(", which is not in {}", request.data.string()));
}

void run_one(const Experiment& experiment, const experiments::Request& request, const std::string& folder,
             ProgressLine& progress) {
  const auto outcome = experiments::reproduce(experiment, request, folder, [&](const experiments::TrialsProgress& now) {
    progress.show(fmt::format("{}: {} of {} trials{}", experiment.name(), now.done, now.all,
                              now.seconds_left < 0 ? "" : fmt::format(", {} left", duration_text(now.seconds_left))),
                  std::chrono::seconds(5));
    return interrupted();
  });
  progress.say(fmt::format("{} ({}): {} trials, {} of work, on {}", experiment.name(), experiment.place(),
                           outcome.trials, duration_text(outcome.seconds),
                           experiments::data_text(experiment, request)));
  for (const experiments::Claim& claim : outcome.summary.claims)
    progress.say("  " + experiments::claim_text(claim, request));
}

}  // namespace

int run_reproduce(const CommandLine& line) {
  const Settings& settings = line.settings;
  const std::string& name = settings.reproduce.name;
  if (name == "list") {
    print_list();
    return kDone;
  }
  std::vector<const Experiment*> chosen;
  if (name == "all")
    for (const auto& experiment : experiments::all_experiments()) chosen.push_back(experiment.get());
  else
    chosen.push_back(&experiments::find_experiment(name));
  if (settings.output.empty()) throw UsageError("output is missing: give the folder for the results with -o DIR");
  const experiments::Request request = request_of(settings);
  if (team().root()) make_folder(settings.output);

  ProgressLine progress("reproduce", settings.quiet);
  catch_interrupts();
  int run = 0;
  for (const Experiment* experiment : chosen) {
    const std::string missing = experiments::missing_file(*experiment, request);
    if (!missing.empty()) {
      progress.warn(skipped_text(*experiment, missing, request));
      continue;
    }
    run_one(*experiment, request, settings.output, progress);
    ++run;
  }
  progress.say(fmt::format("wrote {} to {}", counted(run, "experiment"), settings.output));
  return kDone;
}

}  // namespace gsc::cli
