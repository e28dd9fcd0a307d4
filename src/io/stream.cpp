#include <gsc/streams.h>

#include <gsc/file_kind.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <system_error>
#include <vector>

#include "io/csv.h"
#include "io/file_error.h"
#include "io/mapped_file.h"
#include "io/npy.h"

namespace gsc {
namespace {

std::string reason() { return std::generic_category().message(errno); }

/// A file without a name: it is gone when it is closed.
class UnnamedFile {
 public:
  explicit UnnamedFile(const std::string& name) : name_(name), folder_(std::filesystem::temp_directory_path()) {
    descriptor_ = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (descriptor_ < 0) {  // not every file system has such files
      std::string path = (folder_ / "gsc-XXXXXX").string();
      descriptor_ = ::mkstemp(path.data());
      if (descriptor_ >= 0) ::unlink(path.c_str());
    }
    if (descriptor_ < 0) give_up();
  }
  ~UnnamedFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  UnnamedFile(const UnnamedFile&) = delete;
  UnnamedFile& operator=(const UnnamedFile&) = delete;

  int descriptor() const { return descriptor_; }
  void write(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno != EINTR) give_up();
      if (count > 0) bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }

 private:
  [[noreturn]] void give_up() const {
    fail(name_, "cannot be kept in the folder {}: {}; make room there, set TMPDIR to another folder, or give a file",
         folder_.string(), reason());
  }

  const std::string& name_;
  std::filesystem::path folder_;
  int descriptor_ = -1;
};

/// Bytes, and what keeps them in memory.
struct Bytes {
  std::shared_ptr<const void> owner;
  std::span<const std::byte> view;
};

Bytes mapped(int descriptor, const std::string& name) {
  auto file = std::make_shared<const MappedFile>(descriptor, name);
  const auto view = file->bytes();
  return {std::move(file), view};
}

Bytes read_to_end(int descriptor, const std::string& name) {
  struct stat status {};
  // gsc fit - < data.npy: that file can be looked at in place.
  if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && ::lseek(descriptor, 0, SEEK_CUR) == 0)
    return mapped(descriptor, name);

  constexpr std::size_t kInMemory = std::size_t{1} << 26;
  auto memory = std::make_shared<std::vector<std::byte>>();
  std::optional<UnnamedFile> file;
  std::vector<std::byte> piece(std::size_t{1} << 16);
  while (true) {
    const ssize_t count = ::read(descriptor, piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(name, "cannot be read: {}", reason());
    if (count == 0) break;
    memory->insert(memory->end(), piece.begin(), piece.begin() + count);
    if (memory->size() < kInMemory) continue;
    if (!file) file.emplace(name);
    file->write(*memory);
    memory->clear();
  }
  if (file) {
    file->write(*memory);
    return mapped(file->descriptor(), name);
  }
  const std::span<const std::byte> view(*memory);
  return {std::move(memory), view};
}

/// Whether the first row that is not a comment is separated by tabs.
bool has_tabs(std::span<const std::byte> bytes) {
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.find_first_not_of(" \t\r") == line.npos || line.front() == '#') continue;
    return line.find('\t') != line.npos && line.find_first_of(",;") == line.npos;
  }
  return false;
}

StreamFormat guess(std::span<const std::byte> bytes, const std::string& name) {
  const RecognisedFile found = recognise(bytes.first(std::min<std::size_t>(bytes.size(), 520)));
  if (found.kind == FileKind::npy) return StreamFormat::npy;
  if (found.kind == FileKind::empty) fail(name, "is empty; a table in text or a .npy array is expected");
  if (found.kind != FileKind::text && found.kind != FileKind::unknown)
    fail(name, "is {}; only text and .npy can be read so, so save it as a file and give its name", found.words);
  return has_tabs(bytes) ? StreamFormat::tsv : StreamFormat::csv;
}

}  // namespace

std::string_view to_string(StreamFormat format) {
  switch (format) {
    case StreamFormat::csv:
      return "csv";
    case StreamFormat::tsv:
      return "tsv";
    case StreamFormat::npy:
      return "npy";
  }
  return "";
}

std::unique_ptr<Data> read_stream(int descriptor, std::optional<StreamFormat> format, const std::string& name) {
  Bytes bytes = read_to_end(descriptor, name);
  if (!format) format = guess(bytes.view, name);
  if (format == StreamFormat::npy) return parse_npy(std::move(bytes.owner), bytes.view, name);
  return parse_csv(bytes.view, format == StreamFormat::tsv, name);
}

}  // namespace gsc
