#pragma once
// What a file is: by the end of its name, and by its first bytes, whatever its name says. Target gsc::io.

#include <gsc/export.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace gsc {

/// ".csv" for "Data.CSV".
GSC_EXPORT std::string lower_extension(const std::filesystem::path& path);
/// ".h5" and ".hdf5"
GSC_EXPORT bool is_hdf5_extension(const std::string& extension);

enum class FileKind { unknown, empty, npy, zip, hdf5, matlab, picture, sound, other, text };

struct RecognisedFile {
  FileKind kind = FileKind::unknown;
  std::string words;  ///< "a PNG picture", "text"; empty if unknown
};

/// From the first bytes; 520 are enough.
GSC_EXPORT RecognisedFile recognise(std::span<const std::byte> start);
/// The same for a file; unknown if it cannot be read.
GSC_EXPORT RecognisedFile recognise(const std::filesystem::path& path);

}  // namespace gsc
