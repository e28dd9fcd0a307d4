#pragma once
// A file seen as read-only memory. Nothing is read before it is looked at, so files larger than memory work.

#include <gsc/export.h>

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

namespace gsc {

class GSC_EXPORT MappedFile {
 public:
  /// Throws Error if it cannot be opened or is not a regular file. A file that another program shortens while it is
  /// mapped ends the process with SIGBUS: that is the price of not copying it.
  explicit MappedFile(const std::filesystem::path& path);
  /// An open file, which stays open. `name` is what messages call it.
  MappedFile(int descriptor, const std::string& name) { map(descriptor, name); }
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, size_}; }

 private:
  void map(int descriptor, const std::string& name);

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gsc
