#pragma once
// Writing a file so that the target is either the old one or the complete new one, whatever happens in between.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

namespace gsc {
#pragma GCC visibility push(default)  // for the libraries that build on this one

/// A temporary file beside `target`, which it replaces on commit(). Without commit() it vanishes.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// For libraries that want to write it themselves.
  const std::filesystem::path& temporary() const { return temporary_; }

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Makes sure that the file can grow to so many bytes, for those who cannot cope with a full disk later.
  void reserve(std::uint64_t bytes);
  /// Brings the bytes to the disk, then gives the file its name.
  void commit();

 private:
  [[noreturn]] void fail_with(int error) const;

  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int file_ = -1;
};

#pragma GCC visibility pop
}  // namespace gsc
