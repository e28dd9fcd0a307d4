#pragma once
// Temporary files of atomic writes, and what killed processes left of them.

#include <gsc/export.h>

#include <filesystem>

namespace gsc {

/// A file in `folder` to be written and then given a name. Where the file system can (O_TMPFILE), it has none until
/// then, so that nothing is left of it if the process is killed. Else it is a hidden one, `.gsc-BOOT-PID-N.tmp`, locked
/// (flock) while it is in use, and removed by the destructor.
class GSC_EXPORT TemporaryFile {
 public:
  /// Check descriptor(): negative if the file could not be created, with the reason in errno.
  explicit TemporaryFile(std::filesystem::path folder);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  int descriptor() const { return file_; }
  /// For libraries that want a path: the name, or /proc/self/fd/N.
  std::filesystem::path path() const;

  /// Makes it `target`, in the same folder, replacing what was there. 0, or the error. Its bytes must be on the disk.
  int rename_to(const std::filesystem::path& target);

  /// For tests: as if no file system had files without a name.
  static void only_named(bool only);
  /// For tests: as if such files could not get a name later.
  static void refuse_links(bool refuse);

 private:
  bool open_unnamed();
  bool open_named();
  bool link_as(const std::filesystem::path& name) const;
  int give_name();
  int copy_to_named();

  std::filesystem::path folder_;
  std::filesystem::path name_;  // empty while there is none
  int file_ = -1;
};

/// Removes temporary files in `folder` whose owners are certainly dead. The proof is the lock: the kernel keeps it as
/// long as the owner lives, whatever happens to process numbers. A network file system may be mounted so that locks do
/// not reach other machines; hence the name also tells the boot of the machine that made the file, and one of another
/// boot must in addition have been left alone for a day.
GSC_EXPORT void remove_stale_files(const std::filesystem::path& folder);

}  // namespace gsc
