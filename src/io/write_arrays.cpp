// Arrays to .npy, .npz, .csv, .tsv and .h5.

#include <gsc/arrays.h>

#include <gsc/file_kind.h>

#include <array>
#include <memory>

#include "io/atomic_file.h"
#include "io/file_error.h"
#include "io/hdf5.h"
#include "io/write_table.h"
#include "io/zip_target.h"

namespace gsc {
namespace {

using namespace hdf5;  // for the names of HDF5

void write_npz(AtomicFile& file, const std::string& name, const std::vector<NamedArray>& arrays) {
  ZipTarget target(file, name);
  zip_t* const archive = target.archive();
  std::vector<std::string> headers;  // libzip reads them, and the arrays in place, when the archive is closed
  headers.reserve(arrays.size());
  for (const NamedArray& array : arrays) {
    headers.push_back(npy_header_of(array));
    const std::span<const std::byte> values = bytes_of(array);
    // libzip takes bytes it may own, hence not const; with the last argument 0 it only reads them.
    zip_buffer_fragment_t pieces[2] = {
        {reinterpret_cast<zip_uint8_t*>(headers.back().data()), headers.back().size()},
        {reinterpret_cast<zip_uint8_t*>(const_cast<std::byte*>(values.data())), values.size()}};
    zip_source_t* const source = zip_source_buffer_fragment(archive, pieces, values.empty() ? 1 : 2, 0);
    if (source == nullptr) target.fail_zip();
    const zip_int64_t index = zip_file_add(archive, (array.name + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      target.fail_zip();
    }
    // Stored, as numpy.savez does: noise-like numbers hardly shrink.
    if (zip_set_file_compression(archive, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0) != 0) target.fail_zip();
  }
  target.close();
}

/// Large arrays should not be copied into an image of the file. So the image describes them, the disk space for all is
/// reserved, and only then HDF5 fills them in: it crashes when a write fails.
void write_hdf5(AtomicFile& file, const std::string& name, const std::vector<NamedArray>& arrays) {
  constexpr std::uint64_t kSlack = std::uint64_t{1} << 20;  // alignment and bookkeeping of HDF5
  std::uint64_t size = kSlack;
  hdf5::Image image;
  for (const NamedArray& array : arrays) {
    static_cast<void>(
        image.create_dataset(array.name, array.shape, array.integer != nullptr ? H5T_STD_I32LE : H5T_IEEE_F64LE));
    size += bytes_of(array).size();
  }
  image.with_bytes([&](std::span<const std::byte> described) {
    file.write(described);
    size += described.size();
  });
  file.reserve(size);
  const auto guard = hdf5::lock();
  // HDF5's usual driver asks for the real path of what it opens, and a file without a name has none; the one of stdio
  // does not ask. No locks: AtomicFile may hold one of its own.
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_fapl_stdio(access.get());
  H5Pset_file_locking(access.get(), false, true);
  const hdf5::Handle target(H5Fopen(file.temporary().c_str(), H5F_ACC_RDWR, access.get()), H5Fclose);
  if (!target) fail(name, "cannot be written: HDF5 cannot open its own file");
  for (const NamedArray& array : arrays) {
    if (bytes_of(array).empty()) continue;
    const hdf5::Handle dataset(H5Dopen2(target.get(), array.name.c_str(), H5P_DEFAULT), H5Dclose);
    if (!dataset || H5Dwrite(dataset.get(), array.integer != nullptr ? H5T_NATIVE_INT32 : H5T_NATIVE_DOUBLE, H5S_ALL,
                             H5S_ALL, H5P_DEFAULT, bytes_of(array).data()) < 0)
      fail(name, "'{}' cannot be written; make room or write to another place", array.name);
  }
}

}  // namespace

NamedArray named(std::string name, const Matrix& matrix) {
  return {std::move(name), {matrix.rows(), matrix.cols()}, matrix.data(), nullptr};
}

NamedArray named(std::string name, const Vector& vector) {
  return {std::move(name), {vector.size()}, vector.data(), nullptr};
}

void write_arrays(const std::filesystem::path& path, const std::vector<NamedArray>& arrays,
                  const std::vector<std::string>& columns) {
  const std::string extension = lower_extension(path);
  const bool text = extension == ".csv" || extension == ".tsv";
  if (!text && extension != ".npy" && extension != ".npz" && !is_hdf5_extension(extension))
    fail(path.string(), "cannot be written: the extension {} is not known; use .npy, .npz, .csv, .tsv or .h5",
         in_quotes(extension));
  if (arrays.empty() || (extension == ".npy" && arrays.size() != 1))
    fail(path.string(), "{} holds one array, but {} are to be written; use .npz or .h5", extension, arrays.size());

  AtomicFile file(path);
  const Sink sink = [&](std::string_view bytes) { file.write(bytes); };
  if (extension == ".npy")
    write_npy(sink, arrays.front());
  else if (text)
    write_text(sink, path.string(), arrays, extension == ".csv" ? ',' : '\t',
               columns.empty() && arrays.size() > 1 ? column_names(arrays) : columns);
  else if (extension == ".npz")
    write_npz(file, path.string(), arrays);
  else
    write_hdf5(file, path.string(), arrays);
  file.commit();
}

void write_file(const std::filesystem::path& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

}  // namespace gsc
