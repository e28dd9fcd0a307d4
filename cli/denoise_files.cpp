#include "denoise_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "checks.h"
#include "noisy_picture.h"
#include "streams.h"

namespace gsc::cli {
namespace {

namespace fs = std::filesystem;

bool names_folder(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && (path.back() == '/' || fs::is_directory(path, ignored));
}

/// An option that names a file of each picture: where it is, and what its files are called; "": as the picture.
struct FileOption {
  const char* name;
  std::string& (*value)(Settings&);
  const char* extension;
};

constexpr FileOption kFileOptions[] = {
    {"output", [](Settings& s) -> std::string& { return s.output; }, ""},
    {"clean", [](Settings& s) -> std::string& { return s.denoise.clean; }, ""},
    {"keep-noisy", [](Settings& s) -> std::string& { return s.denoise.keep_noisy; }, ""},
    {"std", [](Settings& s) -> std::string& { return s.denoise.std; }, ".tif"},
    {"save-model", [](Settings& s) -> std::string& { return s.save_model; }, ".h5"},
    {"report", [](Settings& s) -> std::string& { return s.report; }, ".html"},
    {"metrics", [](Settings& s) -> std::string& { return s.metrics; }, ".json"},
};

/// Two pictures of one name would be one result.
void check_names(const std::vector<std::string>& pictures) {
  std::map<std::string, std::string> seen;
  for (const std::string& picture : pictures) {
    const auto [first, is_new] = seen.emplace(fs::path(picture).filename().string(), picture);
    if (!is_new)
      throw UsageError(fmt::format(
          "{} and {} have the same name, so one result would replace the other; denoise them into two folders",
          first->second, picture));
  }
}

std::vector<OutputFile> outputs_of(const Settings& settings) {
  return {{"output", settings.output, kPictureExtensions},
          {"std", settings.denoise.std, kPictureExtensions},
          {"keep-noisy", settings.denoise.keep_noisy, kPictureExtensions},
          {"save-model", settings.save_model, kModelFiles},
          {"report", settings.report, kPages},
          {"metrics", is_stream(settings.metrics) ? "" : settings.metrics}};
}

/// A file whatever it is called: device and number.
using FileId = std::pair<dev_t, ino_t>;
std::optional<FileId> id_of(const std::string& path) {
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return {};
  return FileId{status.st_dev, status.st_ino};
}

/// No output of any picture may be an input of any.
void check_inputs_stay(const std::vector<Settings>& each) {
  std::set<FileId> inputs;
  for (const Settings& settings : each)
    for (const std::string& input : {settings.denoise.picture, settings.denoise.clean})
      if (const auto id = id_of(input)) inputs.insert(*id);
  for (const Settings& settings : each)
    for (const OutputFile& output : outputs_of(settings))
      if (const auto id = id_of(output.path); id && inputs.contains(*id))
        throw UsageError(
            fmt::format("{} would be replaced, but it is what is read; choose another output", output.path));
}

}  // namespace

std::vector<Settings> settings_of_each(const Settings& settings) {
  const std::vector<std::string>& pictures = settings.denoise.pictures;
  check_names(pictures);
  std::vector<Settings> each(pictures.size(), settings);
  for (const FileOption& option : kFileOptions) {
    Settings copy = settings;
    const std::string given = option.value(copy);
    if (given.empty()) continue;
    const bool folder = names_folder(given);
    if (!folder && pictures.size() > 1)
      throw UsageError(fmt::format(
          "{} is {}, but there are {} pictures; give a folder, as {}/, and each gets a file in it", option.name, given,
          pictures.size(), is_stream(given) ? option.name : fs::path(given).stem().string()));
    for (std::size_t i = 0; folder && i < each.size(); ++i) {
      fs::path name = fs::path(pictures[i]).filename();
      if (*option.extension != '\0') name.replace_extension(option.extension);
      option.value(each[i]) = (fs::path(given) / name).string();
    }
  }
  for (std::size_t i = 0; i < each.size(); ++i) each[i].denoise.picture = pictures[i];
  return each;
}

std::vector<std::unique_ptr<OutputFolder>> prepare_outputs(const Settings& all, const std::vector<Settings>& each) {
  check_inputs_stay(each);
  std::vector<std::unique_ptr<OutputFolder>> folders;
  for (const FileOption& option : kFileOptions) {
    Settings copy = all;
    const std::string path = option.value(copy);
    if (std::string(option.name) != "clean" && names_folder(path))
      folders.push_back(std::make_unique<OutputFolder>(option.name, path));
  }
  std::vector<OutputFile> outputs;
  for (const Settings& settings : each)
    for (OutputFile& output : outputs_of(settings)) outputs.push_back(std::move(output));
  check_outputs(outputs, {});
  return folders;
}

}  // namespace gsc::cli
