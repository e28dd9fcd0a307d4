#include "data/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "data/file_error.h"

namespace gsc {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const auto reason = [] { return std::generic_category().message(errno); };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path.string(), "cannot be opened: {}", reason());
  struct stat status {};
  const bool regular = ::fstat(file, &status) == 0 && S_ISREG(status.st_mode);
  if (regular && status.st_size > 0) {
    size_ = static_cast<std::size_t>(status.st_size);
    void* const map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) {
      const std::string why = reason();
      ::close(file);
      fail(path.string(), "cannot be mapped into memory: {}", why);
    }
    data_ = static_cast<const std::byte*>(map);
  }
  ::close(file);
  if (!regular) fail(path.string(), "is not a regular file; copy the data into one");
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace gsc
