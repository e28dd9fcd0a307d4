#include "io/zip_target.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <utility>

#include "io/file_error.h"

namespace gsc {

ZipTarget::ZipTarget(AtomicFile& file, std::string name) : file_(file), name_(std::move(name)) {
  zip_error_init(&error_);
  zip_source_t* const source = zip_source_function_create(&ZipTarget::serve, this, &error_);
  if (source == nullptr) fail_zip();
  archive_.reset(zip_open_from_source(source, ZIP_CREATE | ZIP_TRUNCATE, &error_));
  if (!archive_) {
    zip_source_free(source);
    fail_zip();
  }
}

void ZipTarget::close() {
  if (zip_close(archive_.get()) != 0) fail_zip();
  static_cast<void>(archive_.release());
}

void ZipTarget::fail_zip() const {
  if (failure_) std::rethrow_exception(failure_);
  fail(name_, "cannot be written: {}; make room or write to another place",
       archive_ ? zip_strerror(archive_.get()) : "the archive cannot be created");
}

zip_int64_t ZipTarget::serve(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command) {
  auto& target = *static_cast<ZipTarget*>(self);
  try {
    return target.serve(data, length, command);
  } catch (...) {
    target.failure_ = std::current_exception();
    zip_error_set(&target.error_, ZIP_ER_WRITE, EIO);
    return -1;
  }
}

zip_int64_t ZipTarget::serve(void* data, zip_uint64_t length, zip_source_cmd_t command) {
  switch (command) {
    case ZIP_SOURCE_SUPPORTS:
      return zip_source_make_command_bitmap(
          ZIP_SOURCE_OPEN, ZIP_SOURCE_READ, ZIP_SOURCE_CLOSE, ZIP_SOURCE_STAT, ZIP_SOURCE_ERROR, ZIP_SOURCE_FREE,
          ZIP_SOURCE_SEEK, ZIP_SOURCE_TELL, ZIP_SOURCE_BEGIN_WRITE, ZIP_SOURCE_COMMIT_WRITE, ZIP_SOURCE_ROLLBACK_WRITE,
          ZIP_SOURCE_WRITE, ZIP_SOURCE_SEEK_WRITE, ZIP_SOURCE_TELL_WRITE, ZIP_SOURCE_REMOVE, -1);
    case ZIP_SOURCE_STAT: {
      // To its readers the archive is empty: it is written once and never read.
      auto* const stat = static_cast<zip_stat_t*>(data);
      zip_stat_init(stat);
      stat->valid = ZIP_STAT_SIZE;
      stat->size = 0;
      return sizeof(zip_stat_t);
    }
    case ZIP_SOURCE_ERROR:
      return zip_error_to_data(&error_, data, length);
    case ZIP_SOURCE_WRITE:
      file_.write(std::span(static_cast<const std::byte*>(data), length));
      size_ = std::max<zip_uint64_t>(size_, file_.position());
      return static_cast<zip_int64_t>(length);
    case ZIP_SOURCE_SEEK_WRITE: {
      const zip_int64_t position = zip_source_seek_compute_offset(file_.position(), size_, data, length, &error_);
      if (position < 0) return -1;
      file_.seek(static_cast<std::uint64_t>(position));
      return 0;
    }
    case ZIP_SOURCE_TELL_WRITE:
      return static_cast<zip_int64_t>(file_.position());
    case ZIP_SOURCE_OPEN:
    case ZIP_SOURCE_READ:
    case ZIP_SOURCE_CLOSE:
    case ZIP_SOURCE_FREE:
    case ZIP_SOURCE_SEEK:
    case ZIP_SOURCE_TELL:
    case ZIP_SOURCE_BEGIN_WRITE:
    case ZIP_SOURCE_COMMIT_WRITE:
    case ZIP_SOURCE_ROLLBACK_WRITE:
    case ZIP_SOURCE_REMOVE:
      return 0;
    default:
      zip_error_set(&error_, ZIP_ER_OPNOTSUPP, 0);
      return -1;
  }
}

}  // namespace gsc
