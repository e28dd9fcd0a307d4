#pragma once
// Tables and arrays in files. Everything is written to a temporary name beside the target and renamed, so a failed or
// interrupted write leaves the old file as it was. Target gsc::io.

#include <gsc/data.h>
#include <gsc/export.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gsc {

class Team;  // <gsc/team.h>

/// Opens a table of numbers: .npy (memory-mapped), file.npz:name, .csv, .tsv, file.mat:name (version 5 and 7.3; fields
/// of structures as file.mat:EEG.data, also of EEGLAB's .set), file.h5:/path. The name may be left out where the file
/// holds one array. Rows are data points; a vector is one column. Throws Error naming the file and what is wrong with
/// it.
GSC_EXPORT std::unique_ptr<Data> open_data(const std::string& location);
/// On all ranks of a team: .npy and .h5 are opened by each, which reads its rows only; of other formats the root reads
/// the whole (RootData).
GSC_EXPORT std::unique_ptr<Data> open_data(const std::string& location, Team& team);

/// The table with rows and columns exchanged. Numbers in memory or in a mapped file stay where they are; of other
/// tables a copy is made, which in a team the root holds (RootData).
GSC_EXPORT std::unique_ptr<Data> transposed(std::unique_ptr<Data> data);
GSC_EXPORT std::unique_ptr<Data> transposed(std::unique_ptr<Data> data, Team& team);

/// An array to be written. Only views: the memory must outlive the call.
struct NamedArray {
  std::string name;
  std::vector<Index> shape;  ///< row-major
  const double* real = nullptr;
  const std::int32_t* integer = nullptr;  ///< exactly one of the two is set
};
GSC_EXPORT NamedArray named(std::string name, const Matrix& matrix);
GSC_EXPORT NamedArray named(std::string name, const Vector& vector);

/// Writes arrays by extension: .npy takes one, .npz and .h5 several. So do .csv and .tsv if all have the same number of
/// rows: one array as it is, several side by side below a line of names (mean_0, mean_1, ..., log_likelihood).
/// `columns`: that line for text, where it has others. Throws Error.
GSC_EXPORT void write_arrays(const std::filesystem::path& path, const std::vector<NamedArray>& arrays,
                             const std::vector<std::string>& columns = {});

/// Writes any other file in this way, from its bytes. Throws Error.
GSC_EXPORT void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace gsc
