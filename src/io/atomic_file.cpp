#include "io/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <set>
#include <system_error>

#include "io/file_error.h"

namespace gsc {
namespace {

const char* remedy(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return "make room or write to another disk";
    case ENOENT:
    case ENOTDIR:
      return "create the folder first";
    case EACCES:
    case EPERM:
    case EROFS:
      return "write to a folder that you may change";
    default:
      return "write to another place";
  }
}

/// Once per process and folder: some folders hold very many files.
void remove_stale_files_once(const std::filesystem::path& folder) {
  static std::mutex mutex;
  static std::set<std::filesystem::path> done;
  std::error_code error;
  const std::lock_guard lock(mutex);
  if (done.insert(std::filesystem::absolute(folder, error)).second) remove_stale_files(folder);
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& target) {
  std::error_code error;
  // Through a link to the file it points to, so that the link stays one.
  target_ = std::filesystem::is_symlink(target, error) ? std::filesystem::weakly_canonical(target, error) : target;
  if (error) target_ = target;
  const std::filesystem::file_status status = std::filesystem::status(target_, error);
  if (std::filesystem::is_directory(status)) fail(target_.string(), "is a folder; name a file in it to write to");
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    fail(target_.string(), "is not a regular file, so it cannot be replaced; write to another name");

  const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
  remove_stale_files_once(folder);
  file_.emplace(folder);
  if (descriptor() < 0) fail_with(errno);
  if (!std::filesystem::exists(status)) return;
  // A replaced file keeps its permissions, and nobody reads the new one who could not read the old. Until the end we
  // must be able to open it. If they cannot be set, those of a new file do.
  permissions_ = status.permissions();
  constexpr auto kOwn = std::filesystem::perms::owner_read | std::filesystem::perms::owner_write;
  static_cast<void>(::fchmod(descriptor(), static_cast<mode_t>(*permissions_ | kOwn)));
}

void AtomicFile::fail_with(int error) const {
  fail(target_.string(), "cannot be written: {}; {}", std::generic_category().message(error), remedy(error));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // Linux writes at most 2 GB a call
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor(), bytes.data(), std::min(bytes.size(), kMost));
    if (count < 0 && errno != EINTR) fail_with(errno);
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void AtomicFile::reserve(std::uint64_t bytes) {
  int error = 0;
  do error = ::posix_fallocate(descriptor(), 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error != 0) fail_with(error);
}

void AtomicFile::seek(std::uint64_t position) {
  if (::lseek(descriptor(), static_cast<off_t>(position), SEEK_SET) < 0) fail_with(errno);
}

std::uint64_t AtomicFile::position() const {
  const off_t position = ::lseek(descriptor(), 0, SEEK_CUR);
  if (position < 0) fail_with(errno);
  return static_cast<std::uint64_t>(position);
}

void AtomicFile::commit() {
  if (permissions_) static_cast<void>(::fchmod(descriptor(), static_cast<mode_t>(*permissions_)));
  if (::fsync(descriptor()) != 0) fail_with(errno);
  if (const int error = file_->rename_to(target_); error != 0) fail_with(error);
  // The new name must survive a power cut, too; not every file system can sync a folder, and the file itself is safe.
  const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace gsc
