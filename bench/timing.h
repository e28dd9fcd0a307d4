#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

namespace gsc::bench {

/// Makes the compiler believe that the value is used.
inline void keep(double value) {
  [[maybe_unused]] static volatile double sink;
  sink = value;
}

/// Seconds that one call of `work` takes: the median of `repeats`, after one call that is not counted.
template <class Work>
double median_seconds(int repeats, Work&& work) {
  using Clock = std::chrono::steady_clock;
  work();
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    work();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::nth_element(seconds.begin(), seconds.begin() + repeats / 2, seconds.end());
  return seconds[static_cast<std::size_t>(repeats / 2)];
}

/// The same for short work: the least disturbed of many repeats.
template <class Work>
double least_seconds(int repeats, Work&& work) {
  using Clock = std::chrono::steady_clock;
  double least = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const auto start = Clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(Clock::now() - start).count());
  }
  return least;
}

}  // namespace gsc::bench
