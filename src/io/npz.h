#pragma once
// NumPy's .npz: a zip archive whose members are .npy files.

#include <gsc/data.h>

#include <filesystem>
#include <memory>
#include <string>

namespace gsc {

/// The array `member` (with or without ".npy"); empty: the only one there is. It is unpacked into memory as stored.
std::unique_ptr<Data> open_npz(const std::filesystem::path& path, const std::string& member);

}  // namespace gsc
