#pragma once
// What the end of a file's name says about its format.

#include <algorithm>
#include <filesystem>
#include <string>

namespace gsc {

/// ".csv" for "Data.CSV".
inline std::string lower_extension(const std::filesystem::path& path) {
  std::string extension = path.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return extension;
}

inline bool is_hdf5_extension(const std::string& extension) { return extension == ".h5" || extension == ".hdf5"; }

}  // namespace gsc
