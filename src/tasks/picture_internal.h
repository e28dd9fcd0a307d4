#pragma once

#include <gsc/picture.h>

namespace gsc {

/// Throws Error if write_picture() would because the format that `path` asks for cannot hold the picture.
void check_writable(const std::filesystem::path& path, const Picture& picture);

}  // namespace gsc
