#pragma once
// What HDF5 (1.10) should check in the bookkeeping of files without checksums (those of its oldest format, which is
// still the default of most writers) and does not. Names and numbers as in the HDF5 File Format Specification.

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

namespace gsc::hdf5 {

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

}  // namespace gsc::hdf5
