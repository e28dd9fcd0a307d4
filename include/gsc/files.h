#pragma once
// Arrays and models in files. Everything is written to a temporary name beside the target and renamed, so a failed or
// interrupted write leaves the old file as it was.

#include <gsc/fit.h>
#include <gsc/inference.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace gsc {
#pragma GCC visibility push(default)  // this is what a shared library shows

/// Opens a table of numbers: .npy (memory-mapped), file.npz:name, .csv, .tsv, file.mat:name (version 5 and 7.3; fields
/// of structures as file.mat:EEG.data, also of EEGLAB's .set), file.h5:/path. The name may be left out where the file
/// holds one array. Rows are data points; a vector is one column. Throws Error naming the file and what is wrong with
/// it.
std::unique_ptr<Data> open_data(const std::string& location);
/// On all ranks of a team: .npy and .h5 are opened by each, which reads its rows only; of other formats the root reads
/// the whole (RootData).
std::unique_ptr<Data> open_data(const std::string& location, Team& team);

/// An array to be written. Only views: the memory must outlive the call.
struct NamedArray {
  std::string name;
  std::vector<Index> shape;  ///< row-major
  const double* real = nullptr;
  const std::int32_t* integer = nullptr;  ///< exactly one of the two is set
};
NamedArray named(std::string name, const Matrix& matrix);
NamedArray named(std::string name, const Vector& vector);

/// Writes arrays by extension: .npy takes one, .npz and .h5 several. So do .csv and .tsv if all have the same number of
/// rows: one array as it is, several side by side below a line of names (mean_0, mean_1, ..., log_likelihood). Throws
/// Error.
void write_arrays(const std::filesystem::path& path, const std::vector<NamedArray>& arrays);

/// What a model file holds.
struct ModelFile {
  FitState state;                     ///< parameters, history, rescues
  std::optional<FitOptions> options;  ///< how it was learned, if it was
  std::string version;                ///< of the program that wrote it
};
/// `checkpoint`: also what only going on needs and is as large as the data (MethodState::columns).
void save_model(const std::filesystem::path& path, const ModelFile& file, bool checkpoint = false);
ModelFile load_model(const std::filesystem::path& path);

/// Names the options in which two runs differ so that one cannot go on from the other; empty if it can.
std::vector<std::string> differing_options(const FitOptions& checkpoint, const FitOptions& now);

/// Saves a checkpoint (a model file) every `every` iterations, and when asked to.
class Checkpoint final : public Observer {
 public:
  Checkpoint(std::filesystem::path path, const FitOptions& options, int every)
      : path_(std::move(path)), options_(options), every_(every) {}
  void on_iteration(const FitState& state) override;
  bool needs_method_state(const FitState& state) override { return due(state); }
  void save(const FitState& state) const;

 private:
  bool due(const FitState& state) const;
  std::filesystem::path path_;
  FitOptions options_;
  int every_;
};

#pragma GCC visibility pop
}  // namespace gsc
