// Datasets, read block by block. Chunks are fetched as stored and decoded here: HDF5 (1.10) copies out of a chunk
// without looking whether the decoded chunk is as large as the dataset's description says, so a damaged file makes it
// read foreign memory.

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <list>
#include <new>

#include "io/file_error.h"
#include "io/hdf5.h"
#include "io/inflate.h"

namespace gsc::hdf5 {
namespace {

/// The numbers we read, or nothing.
std::optional<ElementType> element_type(hid_t type) {
  using Kind = ElementType::Kind;
  if (H5Tget_class(type) == H5T_ENUM) {  // how h5py stores booleans
    const Handle base(H5Tget_super(type), H5Tclose);
    if (!base || H5Tget_class(base.get()) != H5T_INTEGER || H5Tget_size(base.get()) != 1) return {};
    return ElementType{Kind::boolean, 1, false};
  }
  const bool little = std::endian::native == std::endian::little;
  const auto equals = [&](hid_t candidate) { return H5Tequal(type, candidate) > 0; };
  const struct {
    hid_t little, big;
    Kind kind;
    int size;
  } known[] = {
      {H5T_IEEE_F64LE, H5T_IEEE_F64BE, Kind::floating, 8},
      {H5T_IEEE_F32LE, H5T_IEEE_F32BE, Kind::floating, 4},
      {H5T_STD_I8LE, H5T_STD_I8BE, Kind::signed_integer, 1},
      {H5T_STD_U8LE, H5T_STD_U8BE, Kind::unsigned_integer, 1},
      {H5T_STD_I16LE, H5T_STD_I16BE, Kind::signed_integer, 2},
      {H5T_STD_U16LE, H5T_STD_U16BE, Kind::unsigned_integer, 2},
      {H5T_STD_I32LE, H5T_STD_I32BE, Kind::signed_integer, 4},
      {H5T_STD_U32LE, H5T_STD_U32BE, Kind::unsigned_integer, 4},
      {H5T_STD_I64LE, H5T_STD_I64BE, Kind::signed_integer, 8},
      {H5T_STD_U64LE, H5T_STD_U64BE, Kind::unsigned_integer, 8},
  };
  for (const auto& entry : known) {
    if (equals(entry.little)) return ElementType{entry.kind, entry.size, !little};
    if (equals(entry.big)) return ElementType{entry.kind, entry.size, little};
  }
  return {};
}

std::string kind_text(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_STRING:
      return "text";
    case H5T_COMPOUND:
      return "records or complex numbers";
    case H5T_REFERENCE:
      return "references";
    case H5T_VLEN:
      return "rows of varying length";
    case H5T_INTEGER:
    case H5T_FLOAT:
      return fmt::format("numbers of an unusual kind ({} bytes)", H5Tget_size(type));
    default:
      return "values that are not numbers";
  }
}

std::string type_text(ElementType type) {
  constexpr const char* kNames[] = {"bool", "int", "uint", "float"};
  const char* const name = kNames[static_cast<int>(type.kind)];
  return type.kind == ElementType::Kind::boolean ? name : fmt::format("{}{}", name, 8 * type.size);
}

/// The checksum that HDF5 puts behind a chunk: Fletcher's, over 16-bit big-endian words.
std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  const auto fold = [](std::uint32_t sum) { return (sum & 0xffffU) + (sum >> 16); };
  std::uint32_t sum1 = 0;
  std::uint32_t sum2 = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) {
    sum1 = fold(sum1 + (at(i) << 8) + (i + 1 < bytes.size() ? at(i + 1) : 0));
    sum2 = fold(sum2 + sum1);
  }
  return sum2 << 16 | sum1;
}

/// Undoes the shuffle filter, which stores first bytes of all elements first, then all second bytes, and so on.
void unshuffle(std::vector<std::byte>& bytes, std::size_t size) {
  const std::size_t count = bytes.size() / size;
  std::vector<std::byte> result = bytes;  // bytes beyond the last whole element stay where they are
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < size; ++j) result[i * size + j] = bytes[j * count + i];
  bytes.swap(result);
}

/// Room for a chunk as stored. HDF5 writes as many bytes as its index says, which for chunks without filters cannot be
/// asked for; no chunk is larger than all together, so that much is set aside. Only what is written to takes memory.
class Scratch {
 public:
  explicit Scratch(std::size_t size) : size_(size) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void* const map = size == 0 ? MAP_FAILED : ::mmap(nullptr, size, PROT_READ | PROT_WRITE, kFlags, -1, 0);
    if (size > 0 && map == MAP_FAILED) throw std::bad_alloc();
    if (size > 0) data_ = static_cast<std::byte*>(map);
  }
  ~Scratch() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t size_;
};

}  // namespace

/// The chunks of a dataset. A band is a row of chunks decoded to doubles; the latest bands are kept, because blocks of
/// rows are usually smaller than chunks.
class Table::Chunks {
 public:
  /// `needed`, `stored_bytes`: of the whole table, unpacked and in the file.
  Chunks(const Table& table, const Handle& properties, std::uint64_t needed, std::uint64_t stored_bytes)
      : table_(table), scratch_(stored_bytes) {
    hsize_t extent[2] = {1, 1};
    const int rank = static_cast<int>(table.shape_.size());
    if (H5Pget_chunk(properties.get(), rank, extent) != rank || extent[0] == 0 || extent[1] == 0) damaged();
    rows_ = extent[0];
    cols_ = extent[1];
    const auto bytes = table_bytes(rows_, cols_, static_cast<std::uint64_t>(table.type_.size));
    if (!bytes) damaged();
    chunk_bytes_ = *bytes;
    read_filters(properties);
    if (std::max(needed, chunk_bytes_) > (packed() ? most_inflated(stored_bytes) : stored_bytes)) damaged();

    const auto whole = table_bytes(bands(), columns_of_chunks(), 1);
    hsize_t stored = 0;
    const Handle space(H5Dget_space(table.dataset_.get()), H5Sclose);
    if (!whole || H5Dget_num_chunks(table.dataset_.get(), space.get(), &stored) < 0) damaged();
    if (stored != *whole)
      fail(table_.name_, "has {} of its {} chunks; the others were never written or the file is damaged", stored,
           *whole);
    // HDF5 keeps the size of every chunk, also where they are all the same.
    if (filters_.empty() && stored_bytes != stored * chunk_bytes_) damaged();
  }

  void read(Index first, Eigen::Ref<Matrix> block) {
    for (Index row = 0; row < block.rows();) {
      const auto at = static_cast<hsize_t>(first + row);
      const std::shared_ptr<const Matrix> values = band(at / rows_);
      const auto inside = static_cast<Index>(at % rows_);
      const Index count = std::min(block.rows() - row, values->rows() - inside);
      block.middleRows(row, count) = values->middleRows(inside, count);
      row += count;
    }
  }

 private:
  [[noreturn]] void damaged() const { fail(table_.name_, "its chunks are damaged; write the file again"); }
  bool packed() const { return std::find(filters_.begin(), filters_.end(), H5Z_FILTER_DEFLATE) != filters_.end(); }
  hsize_t bands() const { return (static_cast<hsize_t>(table_.rows()) - 1) / rows_ + 1; }
  hsize_t columns_of_chunks() const { return (static_cast<hsize_t>(table_.cols()) - 1) / cols_ + 1; }

  void read_filters(const Handle& properties) {
    const int count = H5Pget_nfilters(properties.get());
    if (count < 0) damaged();
    for (int i = 0; i < count; ++i) {
      unsigned flags = 0;
      std::size_t no_parameters = 0;
      const H5Z_filter_t filter = H5Pget_filter2(properties.get(), static_cast<unsigned>(i), &flags, &no_parameters,
                                                 nullptr, 0, nullptr, nullptr);
      if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE && filter != H5Z_FILTER_FLETCHER32)
        fail(table_.name_,
             "is packed with HDF5 filter number {}, which cannot be read; convert the file with "
             "'h5repack -f GZIP=4 OLD NEW'",
             static_cast<int>(filter));
      filters_.push_back(filter);
    }
  }

  /// The bytes of one chunk as they are in memory, chunk_bytes_ of them.
  std::vector<std::byte> fetch(const hsize_t* corner) const {
    hsize_t size = chunk_bytes_;
    if (!filters_.empty() && H5Dget_chunk_storage_size(table_.dataset_.get(), corner, &size) < 0) damaged();
    // Checked before the memory is asked for: what is stored must be able to become a whole chunk.
    if (size > scratch_.size() || chunk_bytes_ > (packed() ? most_inflated(size) : size)) damaged();
    std::uint32_t skipped = 0;  // a bit for each filter that was not applied to this chunk
    if (H5Dread_chunk(table_.dataset_.get(), H5P_DEFAULT, corner, &skipped, scratch_.data()) < 0) damaged();
    std::vector<std::byte> bytes(scratch_.data(), scratch_.data() + size);
    for (std::size_t i = filters_.size(); i-- > 0;)
      if (i >= 32 || (skipped >> i & 1U) == 0) undo(filters_[i], bytes);
    if (bytes.size() != chunk_bytes_) damaged();
    return bytes;
  }

  void undo(H5Z_filter_t filter, std::vector<std::byte>& bytes) const {
    if (filter == H5Z_FILTER_SHUFFLE) return unshuffle(bytes, static_cast<std::size_t>(table_.type_.size));
    if (filter == H5Z_FILTER_DEFLATE) {
      std::vector<std::byte> result(chunk_bytes_ + 4 * filters_.size());  // a checksum may have been packed as well
      const auto made = inflate_into(bytes, result);
      if (!made) damaged();
      result.resize(*made);
      return bytes.swap(result);
    }
    if (bytes.size() < 4) damaged();
    std::uint32_t expected = 0;
    for (std::size_t i = 4; i-- > 0;)
      expected = expected << 8 | std::to_integer<std::uint32_t>(bytes[bytes.size() - 4 + i]);
    bytes.resize(bytes.size() - 4);
    if (fletcher32(bytes) != expected) fail(table_.name_, "its checksum does not fit the numbers; the file is damaged");
  }

  std::shared_ptr<const Matrix> band(hsize_t number) {
    for (auto it = kept_.begin(); it != kept_.end(); ++it) {
      if (it->first != number) continue;
      kept_.splice(kept_.begin(), kept_, it);
      return kept_.front().second;
    }
    const auto first = number * rows_;
    auto values = std::make_shared<Matrix>();
    for (hsize_t column = 0; column < columns_of_chunks(); ++column) {
      const hsize_t corner[2] = {first, column * cols_};
      const std::vector<std::byte> bytes = fetch(corner);
      if (column == 0)  // only now is it known that the file has so much to give
        values->resize(std::min(static_cast<Index>(rows_), table_.rows() - static_cast<Index>(first)), table_.cols());
      const Index width = std::min(static_cast<Index>(cols_), table_.cols() - static_cast<Index>(corner[1]));
      for (Index row = 0; row < values->rows(); ++row)
        to_double(bytes.data() + row * static_cast<Index>(cols_) * table_.type_.size, table_.type_, width,
                  &(*values)(row, static_cast<Index>(corner[1])), 1);
    }
    constexpr Index kKept = Index{1} << 25;  // 256 MB of doubles, or one band where that is larger
    for (kept_elements_ += values->size(); kept_elements_ > kKept && !kept_.empty(); kept_.pop_back())
      kept_elements_ -= kept_.back().second->size();
    kept_.emplace_front(number, values);
    return values;
  }

  const Table& table_;
  Scratch scratch_;
  hsize_t rows_ = 0;
  hsize_t cols_ = 0;
  std::uint64_t chunk_bytes_ = 0;
  std::vector<H5Z_filter_t> filters_;
  std::list<std::pair<hsize_t, std::shared_ptr<const Matrix>>> kept_;  // the latest used first
  Index kept_elements_ = 0;
};

Table::Table(std::shared_ptr<const File> file, const std::string& path)
    : file_(std::move(file)), name_(fmt::format("{}:{}", file_->name, path)) {
  const auto guard = lock();
  dataset_ = Handle(H5Dopen2(file_->id.get(), path.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset_) fail(file_->name, "the dataset {} is missing or damaged", path);
  const Handle type(H5Dget_type(dataset_.get()), H5Tclose);
  const Handle space(H5Dget_space(dataset_.get()), H5Sclose);
  const Handle properties(H5Dget_create_plist(dataset_.get()), H5Pclose);
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (!type || !properties || rank < 0 || H5Sget_simple_extent_type(space.get()) == H5S_NULL)
    fail(name_, "is damaged or empty");
  shape_.resize(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), shape_.data(), nullptr);
  const auto element = element_type(type.get());
  if (!element)
    fail(name_, "holds {}; only real integer and floating-point numbers can be read", kind_text(type.get()));
  type_ = *element;
  if (rank > 2)
    fail(name_, "has {} dimensions ({}); a table has at most 2, so reshape it with one data point per row", rank,
         shape_text(shape_));

  const auto needed = table_bytes(rank > 0 ? shape_[0] : 1, rank > 1 ? shape_[1] : 1, type_.size);
  const std::uint64_t stored = H5Dget_storage_size(dataset_.get());
  if (!needed || stored > file_->size) fail(name_, "promises {} numbers; the file is damaged", shape_text(shape_));
  if (*needed == 0) return;
  const H5D_layout_t layout = H5Pget_layout(properties.get());
  if (layout == H5D_CHUNKED) {
    chunks_ = std::make_unique<Chunks>(*this, properties, *needed, stored);
    return;
  }
  if ((layout != H5D_CONTIGUOUS && layout != H5D_COMPACT) || H5Pget_external_count(properties.get()) != 0)
    fail(name_, "keeps its numbers in other files; copy them into one with 'h5repack OLD NEW'");
  if (stored < *needed)
    fail(name_, "promises {} numbers of {} bytes but holds {} bytes; it was never filled or the file is damaged",
         shape_text(shape_), type_.size, stored);
}

Table::~Table() = default;

void Table::read_plain(Index first, double* values, Index count) const {
  const Handle space(H5Dget_space(dataset_.get()), H5Sclose);
  const hsize_t start[2] = {static_cast<hsize_t>(first), 0};
  const hsize_t extent[2] = {static_cast<hsize_t>(count), static_cast<hsize_t>(cols())};
  const hsize_t total = extent[0] * extent[1];
  const Handle memory(H5Screate_simple(1, &total, nullptr), H5Sclose);
  const bool selected =
      shape_.empty() || H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start, nullptr, extent, nullptr) >= 0;
  if (!selected || H5Dread(dataset_.get(), H5T_NATIVE_DOUBLE, memory.get(), space.get(), H5P_DEFAULT, values) < 0)
    fail(name_, "rows {} to {} cannot be read; the file is damaged or cut off", first, first + count - 1);
}

void Table::read(Index first, Eigen::Ref<Matrix> block) const {
  assert(first >= 0 && first + block.rows() <= rows() && block.cols() == cols());
  if (block.size() == 0) return;
  const auto guard = lock();
  if (chunks_) return chunks_->read(first, block);
  if (block.outerStride() == block.cols()) return read_plain(first, block.data(), block.rows());
  Matrix values(block.rows(), block.cols());
  read_plain(first, values.data(), values.rows());
  block = values;
}

Matrix Table::read_all() const {
  Matrix values(rows(), cols());
  read(0, values);
  return values;
}

Description describe(const File& file, const std::string& path) {
  const auto guard = lock();
  const Handle object = open_object(file, path);
  if (!object) return {false, false, {}, "unreadable"};
  if (H5Iget_type(object.get()) != H5I_DATASET) return {false, false, {}, "a group"};
  const Handle type(H5Dget_type(object.get()), H5Tclose);
  const Handle space(H5Dget_space(object.get()), H5Sclose);
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (!type || rank < 0) return {false, false, {}, "unreadable"};
  std::vector<hsize_t> shape(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), shape.data(), nullptr);
  const auto element = element_type(type.get());
  if (!element) return {false, false, shape, kind_text(type.get())};
  return {rank <= 2, true, shape, fmt::format("{} {}", shape_text(shape), type_text(*element))};
}

}  // namespace gsc::hdf5
