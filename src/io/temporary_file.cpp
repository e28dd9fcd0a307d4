#include "io/temporary_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

namespace gsc {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBegin = ".gsc-", kEnd = ".tmp";

std::atomic<bool> named_only = false, links_refused = false;

/// The first part of the random number that the kernel draws at each boot; containers of one machine share it, and its
/// locks. "0" where it cannot be read.
const std::string& this_boot() {
  static const std::string boot = [] {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    id = id.substr(0, id.find('-'));
    return id.empty() || id.find_first_not_of("0123456789abcdef") != id.npos ? std::string("0") : id;
  }();
  return boot;
}

fs::path fresh_name(const fs::path& folder) {
  static std::atomic<unsigned> counter{0};
  return folder / fmt::format("{}{}-{}-{}{}", kBegin, this_boot(), ::getpid(), counter++, kEnd);
}

/// The part BOOT of .gsc-BOOT-PID-N.tmp; empty for other names.
std::string_view boot_of(std::string_view name) {
  if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || name.size() < kBegin.size() + kEnd.size()) return {};
  name.remove_prefix(kBegin.size());
  name.remove_suffix(kEnd.size());
  std::array<std::string_view, 3> parts;  // BOOT, PID, N
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = i + 1 < parts.size() ? name.find('-') : name.size();
    if (end == 0 || end == name.npos) return {};
    parts[i] = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (parts[i].find_first_not_of(i == 0 ? "0123456789abcdef" : "0123456789") != parts[i].npos) return {};
  }
  return parts[0];
}

/// Whether nobody holds the file. A shared lock is enough to know and, unlike an exclusive one, can be had of a file
/// opened for reading everywhere.
bool is_free(int file) { return ::flock(file, LOCK_SH | LOCK_NB) == 0; }

bool left_alone_for_a_day(const struct stat& status) {
  using std::chrono::system_clock;
  return system_clock::now() - system_clock::from_time_t(status.st_mtime) > std::chrono::hours(24);
}

void remove_if_stale(const fs::path& path, std::string_view boot) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (file < 0) return;
  struct stat status {};
  if (::fstat(file, &status) == 0 && S_ISREG(status.st_mode) && is_free(file) &&
      (boot == this_boot() || left_alone_for_a_day(status)))
    ::unlink(path.c_str());
  ::close(file);
}

/// Bytes and permissions, brought to the disk; 0 or the error.
int copy_file(int from, int to) {
  std::array<char, 1 << 16> bytes;
  while (true) {
    const ssize_t count = ::read(from, bytes.data(), bytes.size());
    if (count == 0) break;
    if (count < 0 && errno != EINTR) return errno;
    for (ssize_t done = 0; done < count;) {
      const ssize_t written = ::write(to, bytes.data() + done, static_cast<std::size_t>(count - done));
      if (written < 0 && errno != EINTR) return errno;
      if (written > 0) done += written;
    }
  }
  struct stat status {};
  if (::fstat(from, &status) == 0) static_cast<void>(::fchmod(to, status.st_mode & 07777));
  return ::fsync(to) == 0 ? 0 : errno;
}

}  // namespace

void TemporaryFile::only_named(bool only) { named_only = only; }
void TemporaryFile::refuse_links(bool refuse) { links_refused = refuse; }

TemporaryFile::TemporaryFile(fs::path folder) : folder_(std::move(folder)) {
  if (!open_unnamed()) static_cast<void>(open_named());
}

TemporaryFile::~TemporaryFile() {
  if (!name_.empty()) ::unlink(name_.c_str());
  if (file_ >= 0) ::close(file_);
}

fs::path TemporaryFile::path() const {
  return name_.empty() ? fs::path(fmt::format("/proc/self/fd/{}", file_)) : name_;
}

bool TemporaryFile::open_unnamed() {
#ifdef O_TMPFILE
  if (named_only) return false;
  file_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0666);
  if (file_ < 0) return false;
  // It gets its name through /proc, which is not there in every container.
  struct stat own {};
  struct stat seen {};
  if (::fstat(file_, &own) == 0 && ::stat(path().c_str(), &seen) == 0 && own.st_ino == seen.st_ino &&
      own.st_dev == seen.st_dev)
    return true;
  ::close(file_);
  file_ = -1;
#endif
  return false;
}

bool TemporaryFile::open_named() {
  while (true) {
    name_ = fresh_name(folder_);
    file_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0 && errno == EEXIST) continue;
    if (file_ < 0) {
      name_.clear();
      return false;
    }
    // Before it was locked, somebody may have taken it for a dead one's. Where locks are not to be had at all, nobody
    // can get one either, and the file is safe.
    struct stat status {};
    const bool contested = ::flock(file_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (!contested && ::fstat(file_, &status) == 0 && status.st_nlink > 0) return true;
    ::close(file_);
  }
}

bool TemporaryFile::link_as(const fs::path& name) const {
  if (links_refused) {
    errno = EOPNOTSUPP;
    return false;
  }
  return ::linkat(AT_FDCWD, path().c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0;
}

int TemporaryFile::give_name() {
  static_cast<void>(::flock(file_, LOCK_EX | LOCK_NB));  // nobody else knows the file yet
  while (true) {
    fs::path name = fresh_name(folder_);
    if (link_as(name)) {
      name_ = std::move(name);
      return 0;
    }
    if (errno != EEXIST) return copy_to_named();
  }
}

int TemporaryFile::copy_to_named() {
  const int from = std::exchange(file_, -1);
  ::lseek(from, 0, SEEK_SET);
  const int error = open_named() ? copy_file(from, file_) : errno;
  ::close(from);
  return error;
}

int TemporaryFile::rename_to(const fs::path& target) {
  // A new file needs no other name in between, and then not even the worst moment to be killed leaves anything.
  if (name_.empty() && link_as(target)) return 0;
  if (name_.empty())
    if (const int error = give_name(); error != 0) return error;
  if (::rename(name_.c_str(), target.c_str()) != 0) return errno;
  name_.clear();
  return 0;
}

void remove_stale_files(const fs::path& folder) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (const std::string_view boot = boot_of(name); !boot.empty()) remove_if_stale(entry->path(), boot);
  }
}

}  // namespace gsc
