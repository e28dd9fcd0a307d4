#pragma once
// Pictures in files. Target gsc::media.

#include <gsc/picture.h>

#include <filesystem>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

/// Reads PNG, TIFF, JPEG, PGM, PPM. Throws Error naming the file and what is wrong (missing, corrupt, a video, ...).
Picture read_picture(const std::filesystem::path& path);

/// Writes by extension, rounding and clipping to the depth; atomically. real32 needs TIFF. Throws Error.
void write_picture(const std::filesystem::path& path, const Picture& picture);

/// Throws Error if write_picture() would because the format that `path` asks for cannot hold the picture.
void check_writable(const std::filesystem::path& path, const Picture& picture);

#pragma GCC visibility pop
}  // namespace gsc
