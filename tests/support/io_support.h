#pragma once
// What the tests of the file layer share: a folder that goes away, whole files as strings, tables as matrices, and
// files of formats that gsc reads but does not write.

#include <gsc/files.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "expect_error.h"

namespace gsc::test {

/// A fresh folder for one test, removed with all that is in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& path);
std::filesystem::path write_file(const std::filesystem::path& path, std::string_view bytes);

/// All of a table, read in blocks of `block` rows.
Matrix read_all(const Data& data, Index block = 5);
Matrix read_all(const std::string& location);

/// How opening and reading the table fails.
std::string open_error(const std::string& location);

/// Values that are different everywhere and need all bits of a double.
Matrix example(Index rows, Index cols);

/// A .npy file by hand: header text as given, then the bytes.
std::string npy_bytes(const std::string& dictionary, std::string_view values, char version = 1);

enum class MatVersion { v5, v5_packed, v73 };
/// Written by matio: `x` (the matrix) and, if asked for, variables of the kinds that are not tables.
void write_mat(const std::filesystem::path& path, MatVersion version, const Matrix& x, bool other_kinds = false);

/// Written by matio, as EEGLAB does: the structure EEG with srate (a number), setname (text), data (the matrix), etc
/// (a structure with `weights`, 2 x 2) and chanlocs (an array of two structures). A text for `data` instead of the
/// matrix, if not empty, is what EEGLAB writes where the numbers are in another file.
void write_eeglab(const std::filesystem::path& path, MatVersion version, const Matrix& x, const std::string& data = "");

struct Hdf5Layout {
  Index chunk_rows = 0;  ///< 0: in one piece
  Index chunk_cols = 0;
  bool deflate = false;
  bool shuffle = false;
  bool checksum = false;
  bool single = false;  ///< big-endian floats
};
/// Written by the HDF5 library: /group/x (the matrix).
void write_hdf5(const std::filesystem::path& path, const Matrix& x, const Hdf5Layout& layout = {});

/// The model of the given types with D = 4, H = 3, and options and a history where every field differs from its
/// default.
ModelFile example_model(NoiseType noise, SlabType slab);

}  // namespace gsc::test
