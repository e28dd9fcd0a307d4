#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "io/file_error.h"

namespace gsc {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail(path.string(), "cannot be opened: {}", std::generic_category().message(errno));
  try {
    map(file, path.string());
  } catch (...) {
    ::close(file);
    throw;
  }
  ::close(file);
}

void MappedFile::map(int descriptor, const std::string& name) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))
    fail(name, "is not a regular file; copy the data into one");
  if (status.st_size == 0) return;
  size_ = static_cast<std::size_t>(status.st_size);
  void* const map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (map == MAP_FAILED) fail(name, "cannot be mapped into memory: {}", std::generic_category().message(errno));
  data_ = static_cast<const std::byte*>(map);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
}

}  // namespace gsc
