#pragma once

#include <time.h>

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

/// The least time that the calling thread has the processor for, which others on the machine do not change: of work
/// that stays on that thread.
template <class Work>
double least_thread_seconds(int repeats, Work&& work) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  double least = 1e300;
  for (int i = 0; i < repeats; ++i) {
    const double start = now();
    work();
    least = std::min(least, now() - start);
  }
  return least;
}

/// Two kinds of work in turns, after one call of each that is not counted: what disturbs one disturbs the other.
struct Turns {
  double first, second;  ///< seconds: medians
  double ratio;          ///< of the second to the first: the median over the turns
};
template <class First, class Second>
Turns in_turns(int repeats, First&& first, Second&& second) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](auto&& work) {
    const auto start = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  const auto median = [](std::vector<double> values) {
    std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2), values.end());
    return values[values.size() / 2];
  };
  first();
  second();
  std::vector<double> firsts, seconds_of_second, ratios;
  for (int i = 0; i < repeats; ++i) {
    // Each goes first in every other turn.
    const bool swapped = i % 2 == 1;
    const double early = swapped ? seconds(second) : seconds(first), late = swapped ? seconds(first) : seconds(second);
    firsts.push_back(swapped ? late : early);
    seconds_of_second.push_back(swapped ? early : late);
    ratios.push_back(seconds_of_second.back() / firsts.back());
  }
  return {median(firsts), median(seconds_of_second), median(ratios)};
}

}  // namespace gsc::bench
