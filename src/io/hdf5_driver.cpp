#include "io/hdf5_driver.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include "gsc/types.h"
#include "io/hdf5_checks.h"
#include "io/mapped_file.h"

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>
#endif

namespace gsc::hdf5 {
namespace {

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
