#pragma once
// Where a table is: a file, and which array of it.

#include <filesystem>
#include <string>

namespace gsc {

struct Location {
  std::filesystem::path path;
  std::string array;  ///< what follows the colon, if anything
};

/// Splits "file.npz:name". Paths and names may hold colons themselves, so the longest part that is a file counts.
/// Throws Error if there is none.
Location split_location(const std::string& location);

}  // namespace gsc
