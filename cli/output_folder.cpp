#include "output_folder.h"

#include <fmt/format.h>
#include <gsc/types.h>

#include <system_error>

#include "program_team.h"

namespace gsc::cli {

namespace fs = std::filesystem;

OutputFolder::OutputFolder(const std::string& option, const std::string& path) : path_(path) {
  std::error_code error;
  // "out/" is the folder "out" with nothing in it.
  if (!path_.has_filename() && path_.has_parent_path()) path_ = path_.parent_path();
  if (fs::exists(path_, error) && !fs::is_directory(path_, error))
    throw UsageError(fmt::format("{} is {}: that is a file; give the name of a folder", option, path));
  for (fs::path part = path_; !part.empty() && !fs::exists(part, error); part = part.parent_path())
    made_.push_back(part);
  if (!team().root()) made_.clear();  // it is the root's
  error.clear();
  if (team().root()) fs::create_directories(path_, error);
  if (error)
    throw UsageError(
        fmt::format("{} is {}: the folder cannot be made ({}); choose another place", option, path, error.message()));
}

OutputFolder::~OutputFolder() {
  std::error_code ignored;
  for (const fs::path& part : made_) fs::remove(part, ignored);  // only if empty
}

}  // namespace gsc::cli
