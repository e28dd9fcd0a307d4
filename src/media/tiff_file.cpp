#include "media/tiff_file.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace gsc::media {

TiffFile::TiffFile(std::span<const std::byte> bytes) : input_(bytes) {
  // Pieces of a damaged file may declare any size. Honest ones are copied at most, which is as much as the file has.
  constexpr std::uint64_t kTables = std::uint64_t{64} << 20;
  open("rm", static_cast<tmsize_t>(kTables + 4 * bytes.size()));  // m: it need not ask for a map of the file
}

TiffFile::TiffFile(bool more_than_4_gigabytes) : writing_(true) { open(more_than_4_gigabytes ? "w8" : "w", 0); }

void TiffFile::open(const char* mode, tmsize_t largest_allocation) {
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 &TIFFOpenOptionsFree);
  if (!options) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), on_error, this);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), on_warning, this);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), largest_allocation);
  tiff_.reset(TIFFClientOpenExt(
      "picture", mode, this, read, write, seek, [](thandle_t) { return 0; }, size,
      [](thandle_t, void**, toff_t*) { return 0; }, [](thandle_t, void*, toff_t) {}, options.get()));
}

int TiffFile::on_error(TIFF*, void* user, const char*, const char* format, va_list arguments) {
  TiffFile& file = *static_cast<TiffFile*>(user);
  if (file.words_[0] == '\0') std::vsnprintf(file.words_, sizeof file.words_, format, arguments);
  return 1;  // 0 would let the handlers of the process speak, too
}

int TiffFile::on_warning(TIFF* tiff, void* user, const char* module, const char* format, va_list arguments) {
  // Pixels packed by libjpeg are grey where some are missing, and that is only a warning.
  if (module != nullptr && std::strcmp(module, "JPEGLib") == 0) return on_error(tiff, user, module, format, arguments);
  return 1;
}

bool TiffFile::take(std::vector<std::byte>& bytes) {
  const bool complete = TIFFFlush(get()) == 1;
  tiff_.reset();
  bytes = std::move(output_);
  return complete && !failed_ && words_[0] == '\0';
}

tmsize_t TiffFile::read(thandle_t handle, void* target, tmsize_t count) {
  TiffFile& file = of(handle);
  const std::span<const std::byte> from = file.writing_ ? std::span<const std::byte>(file.output_) : file.input_;
  const std::uint64_t there = from.size() - std::min<std::uint64_t>(file.at_, from.size());
  const auto taken = std::min<std::uint64_t>(there, static_cast<std::uint64_t>(std::max<tmsize_t>(0, count)));
  if (taken > 0) std::memcpy(target, from.data() + file.at_, taken);
  file.at_ += taken;
  file.cut_short_ = file.cut_short_ || static_cast<tmsize_t>(taken) < count;
  return static_cast<tmsize_t>(taken);
}

tmsize_t TiffFile::write(thandle_t handle, void* source, tmsize_t count) try {
  TiffFile& file = of(handle);
  if (!file.writing_ || count <= 0) return 0;
  const std::uint64_t end = file.at_ + static_cast<std::uint64_t>(count);
  if (end > file.output_.size()) file.output_.resize(end);
  std::memcpy(file.output_.data() + file.at_, source, static_cast<std::size_t>(count));
  file.at_ = end;
  return count;
} catch (const std::exception&) {  // no memory; libtiff, which is C, takes no exceptions
  of(handle).failed_ = true;
  return -1;
}

toff_t TiffFile::seek(thandle_t handle, toff_t offset, int whence) {
  TiffFile& file = of(handle);
  file.at_ = offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at_ : size(handle));
  return file.at_;
}

toff_t TiffFile::size(thandle_t handle) {
  const TiffFile& file = of(handle);
  return file.writing_ ? file.output_.size() : file.input_.size();
}

}  // namespace gsc::media
