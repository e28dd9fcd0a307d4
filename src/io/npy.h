#pragma once
// NumPy's .npy: a magic number, a Python dictionary as text (dtype, order, shape), the numbers.

#include <gsc/export.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/elements.h"

namespace gsc {

/// Memory-maps the file; nothing is copied.
std::unique_ptr<Data> open_npy(const std::filesystem::path& path, const std::string& name);

/// The same for the bytes of a .npy file that `owner` keeps in memory. `name` is what messages call it.
std::unique_ptr<Data> parse_npy(std::shared_ptr<const void> owner, std::span<const std::byte> bytes,
                                const std::string& name);

/// A picture of one or more bands: height x width, or height x width x bands.
struct NpyPicture {
  std::unique_ptr<Data> values;  ///< height x (width bands), the bands of a pixel together
  Index bands = 1;
  std::string type;  ///< NumPy's code without byte order, such as "u1"
};
GSC_EXPORT NpyPicture open_npy_picture(const std::filesystem::path& path, const std::string& name);

/// What stands before row-major numbers of this machine's byte order. `type`: NumPy's code, such as "f8".
std::string npy_header(std::string_view type, const std::vector<Index>& shape);

}  // namespace gsc
