// One door for all formats: the extension decides who reads.

#include <gsc/arrays.h>

#include <gsc/file_kind.h>
#include <gsc/team.h>

#include <filesystem>
#include <new>
#include <string>

#include "io/csv.h"
#include "io/file_error.h"
#include "io/hdf5.h"
#include "io/mat.h"
#include "io/npy.h"
#include "io/npz.h"

namespace gsc {
namespace {

/// Where a table is: a file, and which array of it.
struct Location {
  std::filesystem::path path;
  std::string array;  ///< what follows the colon, if anything
};

/// Splits "file.npz:name". Paths and names may hold colons themselves, so the longest part that is a file counts.
/// Throws Error if there is none.
Location split_location(const std::string& location) {
  std::error_code error;
  for (std::size_t end = location.size(); end != std::string::npos && end > 0; end = location.rfind(':', end - 1)) {
    std::filesystem::path path = location.substr(0, end);
    if (!std::filesystem::exists(path, error)) continue;
    if (std::filesystem::is_directory(path, error)) fail(path.string(), "is a folder; name a file in it");
    return {std::move(path), end < location.size() ? location.substr(end + 1) : ""};
  }
  fail(location, "there is no such file; is the name spelt right?");
}

std::unique_ptr<Data> open(const Location& location) {
  const std::string extension = lower_extension(location.path);
  if (extension == ".npz") return open_npz(location.path, location.array);
  if (extension == ".mat" || extension == ".set") return open_mat(location.path, location.array);
  if (is_hdf5_extension(extension)) return hdf5::open_hdf5(location.path, location.array);

  const bool text = extension == ".csv" || extension == ".tsv";
  if (!text && extension != ".npy") {
    const std::string words = recognise(location.path).words;
    fail(location.path.string(),
         "cannot tell the format from {}{}; known are .npy, .npz, .csv, .tsv, .mat, .set, .h5, .hdf5",
         extension.empty() ? "a name without extension" : in_quotes(extension),
         words.empty() ? "" : fmt::format(" (by its first bytes it is {})", words));
  }
  if (!location.array.empty())
    fail(location.path.string(), "holds one table; leave out {}", in_quotes(":" + location.array));
  if (text) return open_csv(location.path, extension == ".tsv");
  return open_npy(location.path, location.path.string());
}

}  // namespace

std::unique_ptr<Data> open_data(const std::string& location) {
  const Location where = split_location(location);
  try {
    return open(where);
  } catch (const std::bad_alloc&) {
    fail(location, "does not fit into memory; save it as .npy, which is read in pieces");
  }
}

/// A table that a team reads together: files that are read in pieces by all, others by the root.
std::unique_ptr<Data> open_data(const std::string& location, Team& team) {
  if (team.alone()) return open_data(location);
  std::unique_ptr<Data> data;
  bool in_pieces = false;
  all_or_none(team, [&] {
    const std::string extension = lower_extension(split_location(location).path);
    in_pieces = extension == ".npy" || is_hdf5_extension(extension);
    if (in_pieces || team.root()) data = open_data(location);
  });
  if (in_pieces) return data;
  return std::make_unique<RootData>(team, std::move(data));
}

}  // namespace gsc
