#pragma once
// Loops of OpenMP: nothing may be thrown out of them, and running out of memory is thrown everywhere.

#include <atomic>
#include <exception>
#include <mutex>

namespace gsc {

/// The first exception of all threads. Once there is one, nothing more is run.
///
///   Failure failure;
///   #pragma omp parallel for
///   for (...) failure.guard([&] { ... });
///   failure.rethrow();
class Failure {
 public:
  template <class Body>
  void guard(const Body& body) noexcept {
    if (failed_) return;
    try {
      body();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!first_) first_ = std::current_exception();
      failed_ = true;
    }
  }

  bool failed() const { return failed_; }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::exception_ptr first_;
};

}  // namespace gsc
