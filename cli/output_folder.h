#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace gsc::cli {

/// A folder for results: made if missing, gone again if nothing came to be in it.
class OutputFolder {
 public:
  /// `option` is what messages call it. Throws UsageError if it cannot be made, or is a file.
  OutputFolder(const std::string& option, const std::string& path);
  ~OutputFolder();
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // the inner ones first
};

}  // namespace gsc::cli
