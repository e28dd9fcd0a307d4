#pragma once
// A TIFF in memory as libtiff sees it. Errors and warnings come to us and not to standard error, and nothing of the
// process is changed: other users of libtiff keep their handlers.

#include <tiffio.h>

#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace gsc::media {

/// To read from `bytes`, or to write to what take() gives.
class TiffFile {
 public:
  explicit TiffFile(std::span<const std::byte> bytes);
  explicit TiffFile(bool more_than_4_gigabytes);
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  /// Null if there is no TIFF in the bytes.
  TIFF* get() const { return tiff_.get(); }
  /// The first thing libtiff complained about, the cause of all others; empty if there was none.
  const char* words() const { return words_; }
  void forget_words() { words_[0] = '\0'; }
  /// Whether libtiff wanted to read beyond the end; it does not always complain.
  bool cut_short() const { return cut_short_; }
  /// Closes the file; false if that failed.
  bool take(std::vector<std::byte>& bytes);

  template <class Value>
  Value tag(std::uint32_t name, Value otherwise) const {
    Value value = otherwise;
    return TIFFGetFieldDefaulted(get(), name, &value) == 1 ? value : otherwise;
  }

 private:
  struct Close {
    void operator()(TIFF* tiff) const { TIFFClose(tiff); }
  };
  void open(const char* mode, tmsize_t largest_allocation);
  static int on_error(TIFF*, void* user, const char*, const char* format, va_list arguments);
  static int on_warning(TIFF*, void* user, const char* module, const char* format, va_list arguments);
  static TiffFile& of(thandle_t handle) { return *static_cast<TiffFile*>(handle); }
  static tmsize_t read(thandle_t handle, void* target, tmsize_t count);
  static tmsize_t write(thandle_t handle, void* source, tmsize_t count);
  static toff_t seek(thandle_t handle, toff_t offset, int whence);
  static toff_t size(thandle_t handle);

  std::span<const std::byte> input_;
  std::vector<std::byte> output_;
  bool writing_ = false, failed_ = false, cut_short_ = false;
  std::uint64_t at_ = 0;
  char words_[300] = "";
  std::unique_ptr<TIFF, Close> tiff_;  // last: closing it still calls what stands above
};

}  // namespace gsc::media
