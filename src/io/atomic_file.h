#pragma once
// Writing a file so that the target is either the old one or the complete new one, whatever happens in between.

#include <gsc/export.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "io/temporary_file.h"

namespace gsc {

/// A temporary file beside `target`, which it replaces on commit(). Without commit() it vanishes. The first one that a
/// process makes in a folder also removes what dead processes have left there.
class GSC_EXPORT AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);

  /// For libraries that want to open it once more and write it themselves, in place.
  std::filesystem::path temporary() const { return file_->path(); }

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Makes sure that the file can grow to so many bytes, for those who cannot cope with a full disk later.
  void reserve(std::uint64_t bytes);
  /// Brings the bytes to the disk, then gives the file its name.
  void commit();

  /// Random access, for formats that come back to what they have written. Moves where write() goes on.
  void seek(std::uint64_t position);
  std::uint64_t position() const;

 private:
  [[noreturn]] void fail_with(int error) const;
  int descriptor() const { return file_->descriptor(); }

  std::filesystem::path target_;
  std::optional<std::filesystem::perms> permissions_;  // of the file that is replaced
  std::optional<TemporaryFile> file_;
};

}  // namespace gsc
