#pragma once
// An archive that libzip writes into an AtomicFile. Given a path, libzip would make a temporary file of its own beside
// it, and leave that behind when it is killed.

#include <zip.h>

#include <exception>
#include <memory>
#include <string>

#include "io/atomic_file.h"

namespace gsc {

class ZipTarget {
 public:
  /// `name` is what errors call it.
  ZipTarget(AtomicFile& file, std::string name);

  zip_t* archive() const { return archive_.get(); }
  /// Writes all that was added. The caller commits the file.
  void close();
  /// Throws what went wrong in the last call of libzip.
  [[noreturn]] void fail_zip() const;

 private:
  struct Discard {
    void operator()(zip_t* archive) const { zip_discard(archive); }
  };
  static zip_int64_t serve(void* self, void* data, zip_uint64_t length, zip_source_cmd_t command);
  zip_int64_t serve(void* data, zip_uint64_t length, zip_source_cmd_t command);

  AtomicFile& file_;
  std::string name_;
  zip_error_t error_{};
  std::exception_ptr failure_;  // of file_, carried past libzip, which is C
  zip_uint64_t size_ = 0;
  std::unique_ptr<zip_t, Discard> archive_;
};

}  // namespace gsc
