#pragma once
// The picture libraries under OpenCV talk to the standard error stream and offer no way to stop it.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <mutex>
#include <string>

namespace gsc {

/// While it lives, what any thread writes to standard error is kept instead. One at a time; others wait.
class StderrCapture {
 public:
  StderrCapture() : lock_(mutex()) {
    memory_ = ::memfd_create("gsc-stderr", MFD_CLOEXEC);
    saved_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (memory_ >= 0 && saved_ >= 0) ::dup2(memory_, STDERR_FILENO);
  }
  ~StderrCapture() {
    give_back();
    if (memory_ >= 0) ::close(memory_);
  }
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;

  /// Ends it and returns what was written.
  std::string finish() {
    give_back();  // first, so that what other threads say while it is read is not lost
    std::string text;
    if (memory_ >= 0 && ::lseek(memory_, 0, SEEK_SET) == 0) {
      char piece[4096];
      for (ssize_t count = 0; (count = ::read(memory_, piece, sizeof piece)) > 0;)
        text.append(piece, static_cast<std::size_t>(count));
    }
    return text;
  }

 private:
  static std::mutex& mutex() {
    static std::mutex one;
    return one;
  }
  void give_back() {
    if (saved_ < 0) return;
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
    saved_ = -1;
  }

  std::unique_lock<std::mutex> lock_;
  int memory_ = -1, saved_ = -1;
};

}  // namespace gsc
