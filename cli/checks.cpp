#include "checks.h"

#include <fmt/format.h>
#include <gsc/file_kind.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>

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

std::string clip_truncation(const LearningChoices& chosen, InferenceOptions& options, Index latents) {
  if (!spike_and_slab(options.method)) return "";
  const InferenceOptions asked = options;
  options = options.resolved(latents);
  if (!traits(options.method).has_candidates)
    return chosen.inference.candidates || chosen.inference.max_active
               ? fmt::format("candidates and max-active have no effect: the {} method considers all latents",
                             to_string(options.method))
               : "";
  std::vector<std::string> lowered;
  if (asked.candidates == 0 && options.candidates < kUsualCandidates)
    lowered.push_back(fmt::format("candidates lowered to the {} latents there are", options.candidates));
  if (asked.max_active == 0 && options.max_active < kUsualMaxActive)
    lowered.push_back(fmt::format("max-active lowered to the {} candidates", options.max_active));
  return fmt::format("{}", fmt::join(lowered, ", "));
}

}  // namespace gsc::cli
