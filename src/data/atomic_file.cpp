#include "data/atomic_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <system_error>

#include "data/file_error.h"

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

  static std::atomic<unsigned> counter{0};
  do {
    temporary_ = target_.parent_path() / fmt::format(".gsc-{}-{}.tmp", ::getpid(), counter++);
    file_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) fail_with(errno);
  // A replaced file keeps its permissions. If they cannot be set, those of a new file do.
  if (std::filesystem::exists(status)) static_cast<void>(::fchmod(file_, static_cast<mode_t>(status.permissions())));
}

AtomicFile::~AtomicFile() {
  if (file_ >= 0) ::close(file_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::fail_with(int error) const {
  fail(target_.string(), "cannot be written: {}; {}", std::generic_category().message(error), remedy(error));
}

void AtomicFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 30;  // Linux writes at most 2 GB a call
  while (!bytes.empty()) {
    const ssize_t count = ::write(file_, bytes.data(), std::min(bytes.size(), kMost));
    if (count < 0 && errno != EINTR) fail_with(errno);
    if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void AtomicFile::reserve(std::uint64_t bytes) {
  int error = 0;
  do error = ::posix_fallocate(file_, 0, static_cast<off_t>(bytes));
  while (error == EINTR);
  if (error != 0) fail_with(error);
}

void AtomicFile::commit() {
  // Opened anew: a library that wrote the file may have replaced the one created here.
  ::close(file_);
  file_ = ::open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file_ < 0 || ::fsync(file_) != 0) fail_with(errno);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) fail_with(errno);
  temporary_.clear();
  // The new name must survive a power cut, too; not every file system can sync a folder, and the file itself is safe.
  const std::filesystem::path folder = target_.has_parent_path() ? target_.parent_path() : ".";
  const int directory = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return;
  ::fsync(directory);
  ::close(directory);
}

}  // namespace gsc
