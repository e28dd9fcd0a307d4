#include "io/hdf5.h"

#include <gsc/file_kind.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>

#include "io/file_error.h"
#include "io/hdf5_driver.h"

namespace gsc::hdf5 {
namespace {

/// Only a bug of ours, or no memory, makes building a file in memory fail.
template <class Result>
Result must(Result result) {
  if (result < 0) throw Error("HDF5 could not put a file together in memory; is there enough of it?");
  return result;
}

Handle open_attribute(const File& file, hid_t object, const std::string& name, H5T_class_t kind, const char* words) {
  std::array<char, 256> object_name{};
  H5Iget_name(object, object_name.data(), object_name.size());
  const std::string where = fmt::format("{}: attribute '{}' of {}", file.name, name, object_name.data());
  Handle attribute(has_attribute(object, name) ? H5Aopen(object, name.c_str(), H5P_DEFAULT) : -1, H5Aclose);
  if (!attribute) fail(where, "is missing; expected {}", words);
  const Handle space(H5Aget_space(attribute.get()), H5Sclose);
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  if (!space || !type || H5Sget_simple_extent_npoints(space.get()) != 1 || H5Tget_class(type.get()) != kind)
    fail(where, "is of another kind; expected {}", words);
  // A wider number or a variable-length string would make HDF5 convert through memory we have not checked.
  if ((kind != H5T_STRING && H5Tget_size(type.get()) > 8) ||
      (kind == H5T_STRING && (H5Tis_variable_str(type.get()) != 0 || H5Tget_size(type.get()) > 0xffff)))
    fail(where, "is stored in a form that cannot be read; expected {}", words);
  return attribute;
}

template <class Number>
Number read_number(const File& file, hid_t object, const std::string& name, H5T_class_t kind, const char* words,
                   hid_t memory_type) {
  const auto guard = lock();
  const Handle attribute = open_attribute(file, object, name, kind, words);
  Number value = 0;
  if (H5Aread(attribute.get(), memory_type, &value) < 0) fail(file.name, "attribute '{}' cannot be read", name);
  return value;
}

void write_attribute(hid_t object, const std::string& name, hid_t stored, hid_t memory, const void* value) {
  const Handle space(must(H5Screate(H5S_SCALAR)), H5Sclose);
  const Handle attribute(must(H5Acreate2(object, name.c_str(), stored, space.get(), H5P_DEFAULT, H5P_DEFAULT)),
                         H5Aclose);
  must(H5Awrite(attribute.get(), memory, value));
}

herr_t collect_link(hid_t, const char* name, const H5L_info_t* info, void* names) {
  constexpr std::size_t kMost = 10000;
  auto& all = *static_cast<std::vector<std::string>*>(names);
  // A name that a damaged file spells with '/' would lead back into the tree and never end.
  const std::string_view text(name);
  if (info->type == H5L_TYPE_HARD && !text.empty() && text != "." && text.find('/') == text.npos)
    all.emplace_back(text);
  return all.size() < kMost ? 0 : 1;
}

void collect_datasets(const File& file, const std::string& path, int depth, std::set<haddr_t>& seen,
                      std::vector<std::string>& found) {
  constexpr int kDeepest = 16;
  constexpr std::size_t kMost = 1000;
  for (const std::string& name : children(file, path)) {
    if (found.size() >= kMost) return;
    const std::string child = (path == "/" ? "" : path) + "/" + name;
    const Handle object = open_object(file, child);
    H5O_info_t info;
    if (!object || H5Oget_info2(object.get(), &info, H5O_INFO_BASIC) < 0 || !seen.insert(info.addr).second) continue;
    if (info.type == H5O_TYPE_DATASET) found.push_back(child);
    if (info.type == H5O_TYPE_GROUP && depth < kDeepest) collect_datasets(file, child, depth + 1, seen, found);
  }
}

class TableData final : public Data {
 public:
  TableData(std::shared_ptr<const File> file, const std::string& path) : table_(std::move(file), path) {}
  Index rows() const override { return table_.rows(); }
  Index cols() const override { return table_.cols(); }
  void read(Index first, Eigen::Ref<Matrix> block) const override { table_.read(first, block); }
  std::string name() const override { return table_.name(); }
  bool random_access() const override { return false; }  // chunks are unpacked whole

 private:
  Table table_;
};

}  // namespace

Lock::Lock() {
  static std::recursive_mutex mutex;
  mutex_ = std::unique_lock(mutex);
  // After it has met a damaged file, HDF5 complains about itself when the process ends. It clears up by atexit, and
  // what is registered later runs earlier.
  [[maybe_unused]] static const int registered =
      H5open() < 0 ? 0 : std::atexit([] { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); });
  H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

Lock::~Lock() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }

Handle::~Handle() {
  if (id_ < 0) return;
  const auto guard = lock();
  close_(id_);
}

File open_file(const std::filesystem::path& path) {
  const auto guard = lock();
  const Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  use_checked_driver(access.get());
  File file;
  file.name = path.string();
  std::error_code error;
  file.size = std::filesystem::file_size(path, error);
  if (error) fail(file.name, "cannot be opened: {}", error.message());
  file.id = Handle(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose);
  if (!file.id) {
    const RecognisedFile found = recognise(path);
    if (found.kind == FileKind::hdf5 || found.kind == FileKind::matlab || found.kind == FileKind::unknown)
      fail(file.name, "cannot be read as HDF5: it is damaged, cut off, or of another format; write or copy it again");
    if (found.kind == FileKind::empty) fail(file.name, "is empty; write or copy it again");
    fail(file.name, "is not HDF5: by its first bytes it is {}; give the file the extension of its format", found.words);
  }
  return file;
}

std::vector<std::string> children(const File& file, const std::string& group) {
  const auto guard = lock();
  std::vector<std::string> names;
  const Handle id(H5Gopen2(file.id.get(), group.c_str(), H5P_DEFAULT), H5Gclose);
  if (id) H5Literate(id.get(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_link, &names);
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<std::string> dataset_paths(const File& file) {
  const auto guard = lock();
  std::set<haddr_t> seen;
  std::vector<std::string> found;
  collect_datasets(file, "/", 0, seen, found);
  return found;
}

Handle open_object(const File& file, const std::string& path) {
  const auto guard = lock();
  return {H5Oopen(file.id.get(), path.c_str(), H5P_DEFAULT), H5Oclose};
}

bool has_attribute(hid_t object, const std::string& name) {
  const auto guard = lock();
  return H5Aexists(object, name.c_str()) > 0;
}

std::int64_t read_integer(const File& file, hid_t object, const std::string& name) {
  return read_number<std::int64_t>(file, object, name, H5T_INTEGER, "an integer", H5T_NATIVE_INT64);
}
std::uint64_t read_unsigned(const File& file, hid_t object, const std::string& name) {
  return read_number<std::uint64_t>(file, object, name, H5T_INTEGER, "an integer", H5T_NATIVE_UINT64);
}
double read_real(const File& file, hid_t object, const std::string& name) {
  return read_number<double>(file, object, name, H5T_FLOAT, "a floating-point number", H5T_NATIVE_DOUBLE);
}
std::string read_text(const File& file, hid_t object, const std::string& name) {
  const auto guard = lock();
  const Handle attribute = open_attribute(file, object, name, H5T_STRING, "a text of fixed length");
  const Handle type(H5Aget_type(attribute.get()), H5Tclose);
  std::string text(H5Tget_size(type.get()), '\0');
  if (H5Aread(attribute.get(), type.get(), text.data()) < 0) fail(file.name, "attribute '{}' cannot be read", name);
  return text.substr(0, text.find('\0'));
}

Image::Image() {
  const auto guard = lock();
  const Handle access(must(H5Pcreate(H5P_FILE_ACCESS)), H5Pclose);
  constexpr std::size_t kGrowth = 1 << 20;
  must(H5Pset_fapl_core(access.get(), kGrowth, false));
  // The format of HDF5 1.8 and later carries a checksum with every piece of structure; the one before has none.
  must(H5Pset_libver_bounds(access.get(), H5F_LIBVER_V18, H5F_LIBVER_V110));
  file_ = Handle(must(H5Fcreate("memory", H5F_ACC_TRUNC, H5P_DEFAULT, access.get())), H5Fclose);
}

Handle Image::create_group(const std::string& path) {
  const auto guard = lock();
  return {must(H5Gcreate2(file_.get(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT)), H5Gclose};
}

Handle Image::create_dataset(const std::string& path, std::span<const Index> shape, hid_t stored_type,
                             hid_t memory_type, const void* values) {
  const auto guard = lock();
  const std::vector<hsize_t> extent(shape.begin(), shape.end());
  const Handle space(extent.empty() ? must(H5Screate(H5S_SCALAR))
                                    : must(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr)),
                     H5Sclose);
  const Handle links(must(H5Pcreate(H5P_LINK_CREATE)), H5Pclose);
  must(H5Pset_create_intermediate_group(links.get(), 1));
  Handle dataset(
      must(H5Dcreate2(file_.get(), path.c_str(), stored_type, space.get(), links.get(), H5P_DEFAULT, H5P_DEFAULT)),
      H5Dclose);
  if (values != nullptr) must(H5Dwrite(dataset.get(), memory_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values));
  return dataset;
}

void Image::with_bytes(const std::function<void(std::span<const std::byte>)>& use) const {
  const auto guard = lock();
  must(H5Fflush(file_.get(), H5F_SCOPE_GLOBAL));
  // The driver's own buffer, so that a large file is not copied.
  void* buffer = nullptr;
  must(H5Fget_vfd_handle(file_.get(), H5P_DEFAULT, &buffer));
  const ssize_t size = must(H5Fget_file_image(file_.get(), nullptr, 0));
  use({*static_cast<const std::byte* const*>(buffer), static_cast<std::size_t>(size)});
}

void write_integer(hid_t object, const std::string& name, std::int64_t value) {
  const auto guard = lock();
  write_attribute(object, name, H5T_STD_I64LE, H5T_NATIVE_INT64, &value);
}
void write_unsigned(hid_t object, const std::string& name, std::uint64_t value) {
  const auto guard = lock();
  write_attribute(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}
void write_real(hid_t object, const std::string& name, double value) {
  const auto guard = lock();
  write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}
void write_text(hid_t object, const std::string& name, std::string_view value) {
  const auto guard = lock();
  const Handle type(must(H5Tcopy(H5T_C_S1)), H5Tclose);
  must(H5Tset_size(type.get(), value.size() + 1));
  must(H5Tset_cset(type.get(), H5T_CSET_UTF8));
  const std::string terminated(value);
  write_attribute(object, name, type.get(), type.get(), terminated.c_str());
}

std::unique_ptr<Data> open_hdf5(const std::filesystem::path& path, const std::string& dataset) {
  const auto guard = lock();
  auto file = std::make_shared<const File>(open_file(path));
  const auto tables = [&] {
    std::vector<std::string> names;
    for (const std::string& name : dataset_paths(*file))
      if (describe(*file, name).table) names.push_back(name);
    return names;
  };
  const auto open = [&](const std::string& name) -> std::unique_ptr<Data> {
    auto table = std::make_unique<TableData>(file, name);
    if (table->rows() == 0 || table->cols() == 0) fail(table->name(), "holds no numbers");
    return table;
  };
  if (!dataset.empty()) {
    const Handle object = open_object(*file, dataset);
    if (!object)
      fail(file->name, "holds nothing named {}; tables there are: {}", in_quotes(dataset), list_text(tables()));
    if (H5Iget_type(object.get()) != H5I_DATASET)
      fail(file->name, "{} is a group, not a dataset; tables there are: {}", in_quotes(dataset), list_text(tables()));
    return open(dataset);
  }
  const Handle root = open_object(*file, "/");
  if (has_attribute(root.get(), "kind") && is_model_kind(read_text(*file, root.get(), "kind")))
    fail(file->name, "is a model, not data; if its numbers are wanted, say which, as in {}:/parameters/W", file->name);
  const std::vector<std::string> names = tables();
  if (names.size() == 1) return open(names.front());
  if (names.empty()) {
    std::vector<std::string> others;
    for (const std::string& name : dataset_paths(*file))
      others.push_back(fmt::format("{} ({})", name, describe(*file, name).text));
    fail(file->name, "holds no table of real numbers; there are: {}", list_text(others));
  }
  fail(file->name, "holds {} tables, so say which, as in {}:{}; there are: {}", names.size(), file->name, names.front(),
       list_text(names));
}

}  // namespace gsc::hdf5
