#include "learning_report.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "checks.h"
#include "commands.h"
#include "options/shape.h"
#include "progress.h"
#include "recording.h"
#include "starts.h"

namespace gsc::cli {
namespace {

/// Patches are usually square, grey or colour; fewer than 4 x 4 pixels make no picture.
Shape guess_shape(Index dimensions) {
  for (const Index channels : {1, 3}) {
    const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(dimensions / channels))));
    if (side >= 4 && side * side * channels == dimensions) return {side, side, channels};
  }
  return {};
}

}  // namespace

void add_basis(Report& report, const Model& model, const Shape& shape) {
  // What has neither one channel nor three has no colours to be drawn in: traces.
  const bool drawable = shape.channels == 1 || shape.channels == 3;
  const Shape drawn = shape.rows == 0 ? guess_shape(model.dimensions()) : drawable ? shape : Shape{};
  report.add_basis(model, drawn.rows, drawn.cols, drawn.channels);
}

void add_model(Report& report, const FitState& state, const Shape& shape, const std::optional<Recording>& recording,
               Method method) {
  if (!state.history.empty()) {
    report.add_heading("Learning");
    report.add_learning(state, method);
  }
  report.add_heading("Basis functions");
  if (recording && shape.rows == 0)
    report.add_basis(state.model, *recording);
  else
    add_basis(report, state.model, shape);
}

Json file_options_json(const ModelFile& file) {
  Settings settings;
  settings.fit = *file.options;
  settings.init = to_string(file.options->init);
  if (file.recording) settings.recording = settings_of(*file.recording);
  Json json = options_json(kFit, settings);
  json.erase("restarts");
  return json;
}

void add_options(Report& report, const Json& options) {
  std::vector<std::pair<std::string, std::string>> facts;
  for (const auto& [name, value] : options.items())
    if (!value.is_null()) facts.emplace_back(name, value.is_string() ? value.get<std::string>() : value.dump());
  report.add_facts("Options", facts);
}

void write_learning_report(const std::string& path, const std::string& title, const ModelFile& file,
                           const Shape& show_basis, const std::vector<double>& free_energies,
                           std::uint64_t first_seed) {
  const Model& model = file.state.model;
  Report report(title, file.recording
                           ? fmt::format("{} basis functions of {}", model.latents(), recording_text(*file.recording))
                           : fmt::format("{} basis functions in {} dimensions", model.latents(), model.dimensions()));
  const Shape of_data = file.options && !file.recording ? file.options->shape : Shape{};
  const Method method = file.method();
  add_model(report, file.state, drawn_shape(show_basis, of_data), file.recording, method);
  if (!free_energies.empty()) add_starts(report, first_seed, free_energies, method);
  if (file.options) add_options(report, file_options_json(file));
  double seconds = 0;
  for (const IterationReport& row : file.state.history) seconds += row.seconds;
  report.add_facts("Run", {{"written by gsc", file.version},
                           {"noise", fmt::format("{}, standard deviation {:.4g}", to_string(model.noise.type()),
                                                 std::sqrt(model.noise.mean_variance()))},
                           {"slab", std::string(to_string(model.slab.type()))},
                           {"learned in", duration_text(seconds)}});
  report.write(path);
}

int run_report(const CommandLine& line) {
  const Settings& settings = line.settings;
  check_outputs({{"output", settings.output, kPages}}, {settings.model});
  const ModelFile file = load_model(settings.model);
  check_shape("show-basis", settings.show_basis, file.state.model.dimensions(), "the model " + settings.model);
  write_learning_report(settings.output, "Model " + settings.model, file, settings.show_basis);
  ProgressLine("report", settings.quiet).say(fmt::format("wrote {}", settings.output));
  return kDone;
}

}  // namespace gsc::cli
