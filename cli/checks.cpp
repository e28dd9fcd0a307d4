#include "checks.h"

#include <fmt/format.h>
#include <gsc/file_kind.h>
#include <gsc/option_list.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <tuple>

namespace gsc::cli {
namespace fs = std::filesystem;

void check_output(const OutputFile& output) {
  const auto& [option, path, extensions] = output;
  if (path.empty() || (path == "-" && extensions.empty())) return;
  const auto refuse = [&](const std::string& why) {
    throw UsageError(fmt::format("{} is {}: {}", output.option, output.path, why));
  };
  std::error_code error;
  // A link is written through, so what counts is the place it points to.
  const fs::path file = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : fs::path(path);
  if (fs::is_directory(file, error)) refuse("that is a folder; give the name of a file in it");
  if (!extensions.empty() && std::find(extensions.begin(), extensions.end(), lower_extension(path)) == extensions.end())
    refuse(fmt::format("the name must end in {}", fmt::join(extensions, ", ")));

  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (!fs::exists(folder, error)) refuse(fmt::format("the folder {} does not exist; create it first", folder.string()));
  if (!fs::is_directory(folder, error)) refuse(fmt::format("{} is not a folder", folder.string()));
  if (fs::exists(file, error) && access(file.c_str(), W_OK) != 0) refuse("the file there is write-protected");
  // Permissions do not tell all (read-only disks, quotas): try.
  std::string probe = (folder / ".gsc-XXXXXX").string();
  const int descriptor = mkstemp(probe.data());
  if (descriptor < 0) refuse(fmt::format("no file can be created in {} ({})", folder.string(), std::strerror(errno)));
  close(descriptor);
  unlink(probe.c_str());
}

namespace {

void check_not_input(const std::string& output, const std::string& input) {
  std::error_code error;
  std::string file = input;
  while (!fs::exists(file, error) && file.find(':') != std::string::npos) file.resize(file.rfind(':'));
  if (fs::exists(file, error) && fs::exists(output, error) && fs::equivalent(file, output, error))
    throw UsageError(fmt::format("{} would be replaced, but it is what is read; choose another output", output));
}

}  // namespace

void check_outputs(const std::vector<OutputFile>& outputs, const std::vector<std::string>& inputs) {
  std::set<std::string> paths;
  for (const OutputFile& output : outputs) check_output(output);
  for (const OutputFile& output : outputs)
    if (!output.path.empty() && !paths.insert(output.path).second)
      throw UsageError(fmt::format("{} is given for two outputs; choose two names", output.path));
  for (const std::string& path : paths)
    for (const std::string& input : inputs) check_not_input(path, input);
}

void check_dimensions(const Data& data, const Model& model, const std::string& model_name) {
  if (data.cols() != model.dimensions())
    throw Error(
        fmt::format("{} has {} columns, but the model {} has {} dimensions; they must be equal, so give data with the "
                    "columns it was learned from{}",
                    data.name(), data.cols(), model_name, model.dimensions(),
                    data.rows() == model.dimensions()
                        ? fmt::format(" (it has {} rows: --transpose exchanges rows and columns)", data.rows())
                        : ""));
}

void check_sharing(const CommandLine& line, const SharingOptions& options) {
  if (line.given("alpha") && options.partition != Partition::global)
    throw UsageError(fmt::format("alpha is for --partition global, but partition is {}", to_string(options.partition)));
}

void check_options_of(const CommandLine& line, Method method) {
  for (const OptionDescription& option : fit_option_list()) {
    std::string name = option.name;
    std::replace(name.begin(), name.end(), '_', '-');
    const std::vector<Method>& methods = option.methods;
    // How the data lies is also for pages.
    if (methods.empty() || option.kind == OptionKind::shape || !line.given(name)) continue;
    if (std::find(methods.begin(), methods.end(), method) != methods.end()) continue;
    std::vector<std::string_view> words;
    for (const Method other : methods) words.push_back(to_string(other));
    throw UsageError(fmt::format("{} is for the {} method{}, but method is {}; leave it out", name,
                                 fmt::join(words, ", "), words.size() == 1 ? "" : "s", to_string(method)));
  }
}

void check_sigma(const CommandLine& line, double sigma) {
  if (line.given("sigma") && line.given("known-noise"))
    throw UsageError("sigma and known-noise are two words for the same; leave one of them out");
  if (line.given("sigma") && !(sigma > 0))
    throw UsageError(
        fmt::format("sigma is {:g}; a noise level is positive. Leave it out where it is not known", sigma));
}

void check_use(const CommandLine& line, const FitOptions& options) {
  const std::string_view method = to_string(options.inference.method);
  for (const char* name : {"sigma", "known-noise"})
    if (line.given(name) && options.known_noise > 0 && codes_by_lambda(options.inference))
      throw UsageError(fmt::format(
          "{} is {:g}, but method is {}{}, whose codes follow from lambda and not from the "
          "noise; leave it out{}",
          name, options.known_noise, method, !traits(options.inference.method).coding ? " and coding is lasso" : "",
          !traits(options.inference.method).coding ? ", or choose --coding bounded or omp" : ""));
  if (line.given("tolerance") && options.tolerance > 0 && traits(options.inference.method).draws)
    throw UsageError(
        fmt::format("tolerance is {:g}, but method is {}, whose draws go up and down for ever; leave it "
                    "out, and choose --iterations and --burn-in",
                    options.tolerance, method));
}

std::string clip_truncation(const CommandLine& line, InferenceOptions& options, Index latents) {
  if (!spike_and_slab(options.method)) return "";
  if (!traits(options.method).has_candidates) {
    options = options.resolved(latents);
    return line.given("candidates") || line.given("max-active")
               ? fmt::format("candidates and max-active have no effect: the {} method considers all latents",
                             to_string(options.method))
               : "";
  }
  for (const auto& [name, value, usual] : {std::tuple{"candidates", options.candidates, kUsualCandidates},
                                           std::tuple{"max-active", options.max_active, kUsualMaxActive}})
    if (line.given(name) && value == 0)
      throw UsageError(fmt::format("{} is 0; it must be at least 1 (leave it out for the usual {})", name, usual));
  const InferenceOptions asked = options;
  options = options.resolved(latents);
  std::vector<std::string> lowered;
  if (asked.candidates == 0 && options.candidates < kUsualCandidates)
    lowered.push_back(fmt::format("candidates lowered to the {} latents there are", options.candidates));
  if (asked.max_active == 0 && options.max_active < kUsualMaxActive)
    lowered.push_back(fmt::format("max-active lowered to the {} candidates", options.max_active));
  return fmt::format("{}", fmt::join(lowered, ", "));
}

}  // namespace gsc::cli
