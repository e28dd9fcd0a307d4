#pragma once
// A small layer over HDF5's C API: identifiers that close themselves, errors that throw, tables that are read block by
// block, and files that are put together in memory.
//
// HDF5 trusts the files it reads more than it should, and crashes when a disk is full. So nothing here lets it read
// without checks (hdf5_driver.cpp), decode chunks (hdf5_table.cpp), follow links recursively, read variable-length
// strings, or write where there might be no room. What remains was fuzzed (tests/io/fuzz_readers_test.cpp).

#include <gsc/data.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/elements.h"
#include "io/hdf5_library.h"

namespace gsc::hdf5 {

/// The library is not thread safe as distributions build it: every call happens under this lock. While one is held HDF5
/// does not print its errors, as we throw ours; then the caller's setting, which is one for the process, is back.
class Lock {
 public:
  Lock();
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::unique_lock<std::recursive_mutex> mutex_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};
[[nodiscard]] inline Lock lock() { return {}; }

/// Owns an identifier. Negative ones mean that the call which should have made it failed.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle() = default;
  Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle();
  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

/// A file opened for reading, together with what messages call it.
struct File {
  Handle id;
  std::string name;
  std::uint64_t size = 0;
};
File open_file(const std::filesystem::path& path);

/// The names of the hard links in a group ("/" is the root), sorted; at most some thousands.
std::vector<std::string> children(const File& file, const std::string& group);
/// Paths of all datasets, found without following soft or external links.
std::vector<std::string> dataset_paths(const File& file);
/// Opens the object `path`; an empty handle if there is none. H5Iget_type tells what it is.
Handle open_object(const File& file, const std::string& path);

/// A dataset of real numbers with at most two dimensions. A vector is one column, a scalar one number.
class Table {
 public:
  /// Throws Error where the dataset is something else, or larger than the file can explain.
  Table(std::shared_ptr<const File> file, const std::string& path);
  ~Table();
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  const std::string& name() const { return name_; }
  const std::vector<hsize_t>& shape() const { return shape_; }
  Index rows() const { return shape_.empty() ? 1 : static_cast<Index>(shape_[0]); }
  Index cols() const { return shape_.size() < 2 ? 1 : static_cast<Index>(shape_[1]); }
  void read(Index first, Eigen::Ref<Matrix> block) const;
  Matrix read_all() const;
  const Handle& id() const { return dataset_; }

 private:
  class Chunks;
  void read_plain(Index first, double* values, Index count) const;

  std::shared_ptr<const File> file_;
  std::string name_;
  Handle dataset_;
  std::vector<hsize_t> shape_;
  ElementType type_;
  std::unique_ptr<Chunks> chunks_;  // none if the numbers lie in one piece
};

/// What stands at `path`: "12 x 5 float64", "group", "text" ...
struct Description {
  bool table = false;    ///< Table can read it
  bool numeric = false;  ///< its elements are real numbers
  std::vector<hsize_t> shape;
  std::string text;
};
Description describe(const File& file, const std::string& path);

// Attributes of an object. Those that read throw Error if it is absent or of another kind.
bool has_attribute(hid_t object, const std::string& name);
std::int64_t read_integer(const File& file, hid_t object, const std::string& name);
std::uint64_t read_unsigned(const File& file, hid_t object, const std::string& name);
double read_real(const File& file, hid_t object, const std::string& name);
std::string read_text(const File& file, hid_t object, const std::string& name);

/// A file that is put together in memory; writing its bytes to disk is left to AtomicFile, which copes with full disks.
class Image {
 public:
  Image();
  hid_t root() const { return file_.get(); }
  Handle create_group(const std::string& path);
  /// Row-major numbers; without `values` the space is only described, to be filled once the file is on disk.
  Handle create_dataset(const std::string& path, std::span<const Index> shape, hid_t stored_type,
                        hid_t memory_type = -1, const void* values = nullptr);
  /// Calls use(bytes) with the finished file.
  void with_bytes(const std::function<void(std::span<const std::byte>)>& use) const;

 private:
  Handle file_;
};
void write_integer(hid_t object, const std::string& name, std::int64_t value);
void write_unsigned(hid_t object, const std::string& name, std::uint64_t value);
void write_real(hid_t object, const std::string& name, double value);
void write_text(hid_t object, const std::string& name, std::string_view value);

/// The attribute `kind` of a model file (model_file.cpp).
constexpr const char* kModelKind = "gsc model";  // of the spike-and-slab model; others add ": " and their method
inline bool is_model_kind(std::string_view kind) {
  return kind == kModelKind || kind.starts_with(std::string(kModelKind) + ": ");
}

/// file.h5:/path; an empty path means the only table there is. A model file has many, so there it must be given.
std::unique_ptr<Data> open_hdf5(const std::filesystem::path& path, const std::string& dataset);

}  // namespace gsc::hdf5
