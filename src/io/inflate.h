#pragma once
// zlib streams inside other containers (MATLAB files, HDF5 chunks).

#include <cstddef>
#include <optional>
#include <span>

namespace gsc {

/// Decompresses the zlib stream `in` into `out` until either ends; the number of bytes made, or nothing if the stream
/// is broken. Never writes beyond `out`, whatever the stream says.
std::optional<std::size_t> inflate_into(std::span<const std::byte> in, std::span<std::byte> out);

}  // namespace gsc
