#include "io/hdf5_driver.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <span>

#include "gsc/types.h"
#include "io/mapped_file.h"

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

namespace gsc::hdf5 {
namespace {

/// What HDF5 (1.10) should check in the bookkeeping of files without checksums (those of its oldest format, which is
/// still the default of most writers) and does not. Names and numbers as in the HDF5 File Format Specification.
class StructureChecks {
 public:
  /// `file`: all of it. `base`: where HDF5's addresses count from.
  StructureChecks(std::span<const std::byte> file, std::uint64_t base) : file_(file), base_(base) {}

  /// Whether addresses and sizes take 8 bytes, as in all files but some made on purpose. The rest relies on it.
  bool has_usual_widths() const;

  /// Whether a local heap (the names in an old-style group) keeps itself and its list of free blocks within the file.
  bool heap_is_sound(std::uint64_t heap) const;

  /// Whether the attributes in an object header of version 1 are as long as they say. Anything else than such a header
  /// is taken for sound.
  bool object_header_is_sound(std::uint64_t header);

 private:
  std::uint64_t number(std::uint64_t at, int width) const;  ///< little-endian; `at` must lie within the file
  bool lies_within(std::uint64_t address, std::uint64_t size) const;
  bool messages_are_sound(std::uint64_t begin, std::uint64_t end, int depth);
  bool attribute_is_sound(std::uint64_t begin, std::uint64_t size) const;

  std::span<const std::byte> file_;
  std::uint64_t base_;
  std::set<std::uint64_t> continuations_;  // where object headers go on; those pieces do not look like headers
};

constexpr std::uint64_t padded(std::uint64_t size) { return (size + 7) / 8 * 8; }

std::uint64_t StructureChecks::number(std::uint64_t at, int width) const {
  std::uint64_t value = 0;
  for (int i = width; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(file_[at + i]);
  return value;
}

bool StructureChecks::lies_within(std::uint64_t address, std::uint64_t size) const {
  return base_ <= file_.size() && address <= file_.size() - base_ && size <= file_.size() - base_ - address;
}

bool StructureChecks::has_usual_widths() const {
  constexpr unsigned char kSignature[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
  // The superblock stands at 0, 512, 1024, 2048, ...: in front of it may be somebody else's header.
  for (std::uint64_t at = 0; at < file_.size() && file_.size() - at >= 16; at = at == 0 ? 512 : 2 * at) {
    if (std::memcmp(file_.data() + at, kSignature, sizeof(kSignature)) != 0) continue;
    const std::uint64_t widths = at + (number(at + 8, 1) < 2 ? 13 : 9);
    return number(widths, 1) == 8 && number(widths + 1, 1) == 8;
  }
  return false;
}

// "HEAP", version, 3 bytes | size of the data | offset of the first free block, or 1 | address of the data
// free block: offset of the next, or 1 | size
bool StructureChecks::heap_is_sound(std::uint64_t heap) const {
  constexpr std::uint64_t kNone = 1;
  constexpr std::uint64_t kBlock = 16;
  if (file_.size() - heap < 32) return false;
  const std::uint64_t size = number(heap + 8, 8);
  const std::uint64_t data = number(heap + 24, 8);
  if (!lies_within(data, size)) return false;
  std::uint64_t blocks = 0;
  for (std::uint64_t at = number(heap + 16, 8); at != kNone; at = number(base_ + data + at, 8)) {
    if (size < kBlock || at > size - kBlock || number(base_ + data + at + 8, 8) > size - at) return false;
    if (++blocks > size / kBlock) return false;  // a circle
  }
  return true;
}

// version 1, 1 byte, number of messages (2), references (4), size (4), 4 bytes | messages
bool StructureChecks::object_header_is_sound(std::uint64_t header) {
  if (continuations_.contains(header) || file_.size() - header < 16 || number(header, 2) != 1) return true;
  const std::uint64_t size = number(header + 8, 4);
  return size <= file_.size() - header - 16 && messages_are_sound(header + 16, header + 16 + size, 0);
}

// message: type (2), size (2), flags (1), 3 bytes | content
bool StructureChecks::messages_are_sound(std::uint64_t begin, std::uint64_t end, int depth) {
  constexpr std::uint64_t kAttribute = 0x000c;
  constexpr std::uint64_t kContinuation = 0x0010;
  constexpr std::uint64_t kShared = 0x02;  // the content stands elsewhere
  constexpr int kDeepest = 500;
  while (end - begin >= 8) {
    const std::uint64_t type = number(begin, 2);
    const std::uint64_t size = number(begin + 2, 2);
    const bool shared = (number(begin + 4, 1) & kShared) != 0;
    const std::uint64_t content = begin + 8;
    if (size > end - content) return false;
    if (type == kAttribute && !shared && !attribute_is_sound(content, size)) return false;
    if (type == kContinuation && size >= 16) {
      const std::uint64_t address = number(content, 8);
      const std::uint64_t length = number(content + 8, 8);
      if (!lies_within(address, length) || depth >= kDeepest) return false;
      if (continuations_.insert(base_ + address).second &&
          !messages_are_sound(base_ + address, base_ + address + length, depth + 1))
        return false;
    }
    begin = content + size;
  }
  return true;
}

// version (1), flags (1), sizes of name, datatype and dataspace (2 each), from version 3 on the encoding (1)
// | name | datatype | dataspace | values;  in version 1 each but the last is padded to 8 bytes
bool StructureChecks::attribute_is_sound(std::uint64_t begin, std::uint64_t size) const {
  if (size < 9) return false;
  const std::uint64_t version = number(begin, 1);
  if (version < 1 || version > 3) return false;
  const auto length = [&](std::uint64_t at) {
    return version == 1 ? padded(number(begin + at, 2)) : number(begin + at, 2);
  };
  const std::uint64_t type = (version == 3 ? 9 : 8) + length(2);
  const std::uint64_t space = type + length(4);
  const std::uint64_t values = space + length(6);
  if (values > size) return false;
  const std::uint64_t flags = version == 1 ? 0 : number(begin + 1, 1);
  if (flags != 0) return true;  // datatype or dataspace stand elsewhere, so how much must follow is not known here
  if (space - type < 8 || values - space < 4) return false;

  std::uint64_t bytes = number(begin + type + 4, 4);  // of one element
  const std::uint64_t rank = number(begin + space + 1, 1);
  const std::uint64_t extents = space + (number(begin + space, 1) == 1 ? 8 : 4);
  if (extents > values || rank > (values - extents) / 8) return false;
  for (std::uint64_t i = 0; i < rank; ++i)
    if (__builtin_mul_overflow(bytes, number(begin + extents + 8 * i, 8), &bytes)) return false;
  return bytes <= size - values;
}

constexpr haddr_t kLargestAddress = ~haddr_t{0} >> 1;

/// HDF5 sees the first member only.
struct OpenFile {
  H5FD_t common{};
  std::unique_ptr<MappedFile> map;
  haddr_t end_of_allocation = 0;
  std::optional<StructureChecks> checks;
};
OpenFile& cast(H5FD_t* file) { return *reinterpret_cast<OpenFile*>(file); }
const OpenFile& cast(const H5FD_t* file) { return *reinterpret_cast<const OpenFile*>(file); }

H5FD_t* open(const char* name, unsigned flags, hid_t, haddr_t) {
  if ((flags & H5F_ACC_RDWR) != 0) return nullptr;
  try {
    auto file = std::make_unique<OpenFile>();
    file->map = std::make_unique<MappedFile>(name);
    if (!StructureChecks(file->map->bytes(), 0).has_usual_widths()) return nullptr;
    return &file.release()->common;
  } catch (const Error&) {
    return nullptr;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

herr_t close(H5FD_t* file) {
  delete &cast(file);
  return 0;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
  *flags = 0;  // no buffers in between: a memory map needs none
  return 0;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t) { return cast(file).end_of_allocation; }
herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  cast(file).end_of_allocation = address;
  return 0;
}
haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t) { return cast(file).map->bytes().size(); }

herr_t read(H5FD_t* file, H5FD_mem_t type, hid_t, haddr_t address, std::size_t size, void* buffer) {
  OpenFile& open_file = cast(file);
  const std::span<const std::byte> bytes = open_file.map->bytes();
  if (address > bytes.size() || size > bytes.size() - address) return -1;
  // The base is known only after the superblock has been read, which is before anything that is checked here.
  if (!open_file.checks && (type == H5FD_MEM_LHEAP || type == H5FD_MEM_OHDR))
    open_file.checks.emplace(bytes, file->base_addr);
  const bool heap = type == H5FD_MEM_LHEAP && size >= 4 && std::memcmp(bytes.data() + address, "HEAP", 4) == 0;
  if (heap && !open_file.checks->heap_is_sound(address)) return -1;
  if (type == H5FD_MEM_OHDR && !open_file.checks->object_header_is_sound(address)) return -1;
  std::memcpy(buffer, bytes.data() + address, size);
  return 0;
}

herr_t write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, std::size_t, const void*) { return -1; }

constexpr H5FD_class_t kDriver = [] {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  driver.value = static_cast<H5FD_class_value_t>(600);  // drivers of users start at 512
#endif
  driver.name = "gsc_checked";
  driver.maxaddr = kLargestAddress;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.open = open;
  driver.close = close;
  driver.query = query;
  driver.get_eoa = end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = end_of_file;
  driver.read = read;
  driver.write = write;
  std::fill(std::begin(driver.fl_map), std::end(driver.fl_map), H5FD_MEM_DEFAULT);
  return driver;
}();

}  // namespace

void use_checked_driver(hid_t access_properties) {
  static const hid_t driver = H5FDregister(&kDriver);
  H5Pset_driver(access_properties, driver, nullptr);
}

}  // namespace gsc::hdf5
