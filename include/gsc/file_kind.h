#pragma once
// What a file is: by the end of its name, and by its first bytes, whatever its name says. Target gsc::io.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

/// ".csv" for "Data.CSV".
std::string lower_extension(const std::filesystem::path& path);
/// ".h5" and ".hdf5"
bool is_hdf5_extension(const std::string& extension);

enum class FileKind { unknown, empty, npy, zip, hdf5, matlab, picture, sound, other, text };

struct RecognisedFile {
  FileKind kind = FileKind::unknown;
  std::string words;  ///< "a PNG picture", "text"; empty if unknown
};

/// From the first bytes; 520 are enough.
RecognisedFile recognise(std::span<const std::byte> start);
/// The same for a file; unknown if it cannot be read.
RecognisedFile recognise(const std::filesystem::path& path);

#pragma GCC visibility pop
}  // namespace gsc
