#pragma once
// MATLAB's .mat files, versions 5 (also compressed, either byte order) and 7.3 (which is HDF5).

#include <gsc/data.h>

#include <filesystem>
#include <memory>
#include <string>

namespace gsc {

/// The real numeric matrix `variable`, perhaps a field of structures ("EEG.data"); empty: the only one there is.
std::unique_ptr<Data> open_mat(const std::filesystem::path& path, const std::string& variable);

/// The same for a file that is known to be of version 7.3.
std::unique_ptr<Data> open_mat73(const std::filesystem::path& path, const std::string& variable);

}  // namespace gsc
