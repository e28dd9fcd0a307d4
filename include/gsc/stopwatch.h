#pragma once
// How long something takes.

#include <chrono>

namespace gsc {

class Stopwatch {
 public:
  /// Since it was made.
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace gsc
