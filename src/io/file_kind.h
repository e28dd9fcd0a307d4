#pragma once
// What a file is by its first bytes, whatever its name says: for messages that tell the user what he has given us.

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace gsc {
#pragma GCC visibility push(default)  // for the libraries that build on this one

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
