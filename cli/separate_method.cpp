#include "separate_method.h"

#include <fmt/format.h>
#include <gsc/files.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "checks.h"
#include "options/option_values.h"
#include "tasks/separate/separate_internal.h"

namespace gsc::cli {
namespace {

const std::string kFastica(to_string(SeparateMethod::fastica));
const std::string kRandom(to_string(Init::random));

bool is_fastica(const SeparateSettings& asked) { return asked.method == kFastica; }

/// FastICA's own.
bool of_fastica(const std::string& name) { return name == "nonlinearity" || name == "decorrelation"; }

/// Options for learning a model. Whatever is not about files, signals or the run is, but for those that both have.
bool of_model(const Option& option) {
  static constexpr std::array kGroups = {"Files", "Signals", "What to write", "Run"};
  static constexpr std::array kBoth = {"method", "init", "latents", "iterations", "tolerance"};
  const std::string& name = option.name;
  if (name == "whiten" || name == "device") return true;
  return std::find(kGroups.begin(), kGroups.end(), option.group) == kGroups.end() &&
         std::find(kBoth.begin(), kBoth.end(), name) == kBoth.end() && !of_fastica(name);
}

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

/// Method, candidates and max-active as given; if none of them is, separate() chooses.
std::string set_model(const CommandLine& line, const SeparateSettings& asked, Index channels,
                      SeparateOptions& options) {
  InferenceOptions& inference = options.fit.inference;
  const Index latents = options.fit.latents > 0 ? options.fit.latents : channels;
  if (asked.init == kFastica && latents > channels)
    throw UsageError(
        fmt::format("init is {0}, which finds at most as many sources as channels ({1}), but latents is {2}; leave it "
                    "out for random starts",
                    kFastica, channels, latents));
  options.start_from_fastica = asked.init != kRandom && latents <= channels;
  if (!asked.method.empty()) inference.method = parse_method(asked.method);
  options.choose_method = asked.method.empty() && !line.given("candidates") && !line.given("max-active");
  if (options.choose_method) return "";
  if (!line.given("max-active")) inference.max_active = inference.resolved(latents).candidates;
  return clip_truncation(line, inference, latents);
}

void set_fastica(const CommandLine& line, Settings& settings, Index channels, SeparateOptions& options) {
  options.method = SeparateMethod::fastica;
  FasticaOptions& own = options.fastica;
  // What both have stands in the same options, with other defaults.
  if (line.given("iterations")) own.iterations = settings.fit.iterations;
  if (line.given("tolerance")) own.tolerance = settings.fit.tolerance;
  settings.fit.iterations = own.iterations;
  settings.fit.tolerance = own.tolerance;
  own.validate();
  if (line.given("latents") && settings.fit.latents < 1)
    throw UsageError("latents is 0; it must be at least 1 (leave it out for as many as channels)");
  std::string& init = settings.separate.init;
  if (init.empty()) init = kRandom;
  if (init != kRandom) own.start = read_mixing(init);
  if (settings.fit.latents == 0) settings.fit.latents = channels;
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
    if (fastica && of_model(*option))
      throw UsageError(
          fmt::format("{} is for learning a model, but method is {}; leave one out", option->name, kFastica));
    if (!fastica && of_fastica(option->name) && asked.init == kRandom)
      throw UsageError(fmt::format("{} is for {}, but init is {}; leave one out", option->name, kFastica, kRandom));
  }
  if (fastica && asked.init == kFastica)
    throw UsageError("init is fastica, but so is method; give random, or a file with a mixing matrix to start from");
  if (!fastica && !asked.init.empty() && asked.init != kFastica && asked.init != kRandom)
    throw UsageError(fmt::format("init is '{}'; choose random or {} (a mixing matrix is a start for --method {} only)",
                                 asked.init, kFastica, kFastica));
}

std::string set_method(const CommandLine& line, Settings& settings, Index channels, SeparateOptions& options) {
  SeparateSettings& asked = settings.separate;
  options.fastica = asked.fastica;
  std::string note;
  if (is_fastica(asked)) {
    set_fastica(line, settings, channels, options);
  } else {
    note = set_model(line, asked, channels, options);
    settings.fit = resolved(options, channels);
    asked.init = options.start_from_fastica ? kFastica : kRandom;
    asked.method = to_string(settings.fit.inference.method);
  }
  return note;
}

std::string fastica_text(const FasticaOptions& options) {
  return fmt::format("{} ({}, {})", kFastica, to_string(options.decorrelation), to_string(options.nonlinearity));
}

Json separate_options_json(const Settings& settings) {
  Json json = options_json(kSeparate, settings);
  const bool fastica = is_fastica(settings.separate), started = settings.separate.init == kFastica;
  for (const Option* option : options_of(kSeparate)) {
    std::string key = option->name;
    std::replace(key.begin(), key.end(), '-', '_');
    if (fastica ? of_model(*option) : of_fastica(option->name) && !started) json.erase(key);
  }
  return json;
}

}  // namespace gsc::cli
