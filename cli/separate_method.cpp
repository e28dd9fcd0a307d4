#include "separate_method.h"

#include <fmt/format.h>
#include <gsc/files.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "checks.h"
#include "options/option_values.h"
#include "program_team.h"

namespace gsc::cli {
namespace {

const std::string kFastica(to_string(SeparateMethod::fastica));
const std::string kRandom(to_string(Init::random));

bool is_fastica(const SeparateSettings& asked) { return asked.method == kFastica; }

/// FastICA's own.
bool of_fastica(const std::string& name) { return name == "nonlinearity" || name == "decorrelation"; }

/// Of those that learn a model.
Method parse_method(const std::string& word) {
  const std::optional<Method> method = find_word<Method>(word);
  if (method && spike_and_slab(*method)) return *method;
  throw UsageError(fmt::format("method is '{}'; choose one of {}", word, separate_methods(", ")));
}

Matrix read_mixing(const std::string& file) {
  const std::unique_ptr<Data> table = open_data(file);
  Matrix mixing(table->rows(), table->cols());
  table->read(0, mixing);
  if (!mixing.allFinite()) throw Error(fmt::format("init: {} has values that are not finite; replace them", file));
  return mixing;
}

void set_model(SeparateSettings& asked, Index channels, SeparateOptions& options) {
  const Index latents = options.learning.latents.value_or(channels);
  if (asked.init == kFastica && latents > channels)
    throw UsageError(
        fmt::format("init is {0}, which finds at most as many sources as channels ({1}), but latents is {2}; leave it "
                    "out for random starts",
                    kFastica, channels, latents));
  options.start_from_fastica = asked.init != kRandom && latents <= channels;
  if (!asked.method.empty()) options.learning.inference.method = parse_method(asked.method);
  asked.init = options.start_from_fastica ? kFastica : kRandom;
}

void set_fastica(std::string& init, SeparateOptions& options) {
  options.method = SeparateMethod::fastica;
  if (init.empty()) init = kRandom;
  if (init != kRandom) options.fastica.start = read_mixing(init);
}

}  // namespace

std::string separate_methods(std::string_view separator) {
  std::string words;
  for (const Method method : kValues<Method>)
    if (spike_and_slab(method)) words.append(to_string(method)).append(separator);
  return words + std::string(to_string(SeparateMethod::fastica));
}

void check_method_options(const CommandLine& line, const SeparateSettings& asked) {
  const bool fastica = is_fastica(asked);
  if (!fastica && !asked.method.empty()) parse_method(asked.method);
  for (const Option* option : options_of(kSeparate)) {
    if (!line.given(option->name)) continue;
    if (fastica && (option->name == "whiten" || option->name == "restarts"))
      throw UsageError(
          fmt::format("{} is for learning a model, but method is {}; leave one of them out", option->name, kFastica));
    if (!fastica && of_fastica(option->name) && asked.init == kRandom)
      throw UsageError(fmt::format("{} is for {}, but init is {}; leave one out", option->name, kFastica, kRandom));
  }
  if (fastica && asked.init == kFastica)
    throw UsageError("init is fastica, but so is method; give random, or a file with a mixing matrix to start from");
  if (!fastica && !asked.init.empty() && asked.init != kFastica && asked.init != kRandom)
    throw UsageError(fmt::format("init is '{}'; choose random or {} (a mixing matrix is a start for --method {} only)",
                                 asked.init, kFastica, kFastica));
}

std::string set_method(Settings& settings, Index channels, SeparateOptions& options) {
  SeparateSettings& asked = settings.separate;
  options.fastica = asked.fastica;
  const bool fastica = is_fastica(asked);
  if (fastica)
    set_fastica(asked.init, options);
  else
    set_model(asked, channels, options);
  settings.fit = options.resolved(channels);
  use_team(settings.fit);
  options.learning.inference.threads = settings.fit.inference.threads;
  const LearningChoices& chosen = options.learning;
  const bool choices = !asked.method.empty() || chosen.inference.candidates || chosen.inference.max_active;
  if (!fastica) asked.method = to_string(settings.fit.inference.method);
  if (fastica || !choices) return "";
  InferenceOptions left_out = settings.fit.inference;
  left_out.candidates = chosen.inference.candidates.value_or(0);
  return clip_truncation(chosen, left_out, settings.fit.latents);
}

std::string fastica_text(const FasticaOptions& options) {
  return fmt::format("{} ({}, {})", kFastica, to_string(options.decorrelation), to_string(options.nonlinearity));
}

Json separate_options_json(const Settings& settings) {
  Json json = options_json(kSeparate, settings);
  const bool fastica = is_fastica(settings.separate), started = settings.separate.init == kFastica;
  for (const Option* option : options_of(kSeparate)) {
    const std::string& name = option->name;
    const bool of_both = name == "latents" || name == "iterations" || name == "tolerance";
    const bool of_model = (option->of_learning && !of_both) || name == "whiten" || name == "restarts";
    if (fastica ? of_model : of_fastica(name) && !started) json.erase(option->key());
  }
  return json;
}

}  // namespace gsc::cli
