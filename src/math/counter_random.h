#pragma once
// Random numbers for work that is spread over threads: which numbers a piece of work gets follows from its name (seed,
// chain, sweep, data point), not from who does it when. SplitMix64 (Steele, Lea and Flood 2014) from a start that is a
// hash of the name.

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <numbers>

namespace gsc {

class CounterRandom {
 public:
  explicit CounterRandom(std::initializer_list<std::uint64_t> name) {
    for (const std::uint64_t part : name) state_ = mixed(state_ + mixed(part + kStep)) + kStep;
  }

  std::uint64_t next() { return mixed(state_ += kStep); }

  /// In (0, 1), never an end; 53 bits.
  double uniform() { return uniform(next()); }
  static double uniform(std::uint64_t bits) {
    return (static_cast<double>(static_cast<std::int64_t>(bits >> 11U)) + 0.5) * 0x1p-53;
  }

  /// For many at a time: leaves out the next `count` numbers, of which number i (from 0) is at(start, i).
  std::uint64_t leave_out(std::uint64_t count) {
    const std::uint64_t start = state_;
    state_ += count * kStep;
    return start;
  }
  static std::uint64_t at(std::uint64_t start, std::uint64_t i) { return mixed(start + (i + 1) * kStep); }

  /// N(0, 1), by Box and Muller; every second one is left over from the one before.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    const double radius = std::sqrt(-2 * std::log(uniform())), angle = 2 * std::numbers::pi * uniform();
    spare_ = radius * std::sin(angle);
    has_spare_ = true;
    return radius * std::cos(angle);
  }

  /// The logarithm of a draw from Gamma(shape, 1). Small shapes give numbers that only their logarithm can hold: a draw
  /// for shape + 1 times u^(1/shape). Above 1 the method of Marsaglia and Tsang (2000).
  double log_gamma(double shape) {
    if (shape < 1) {
      const double larger = log_gamma(shape + 1);
      return larger + std::log(uniform()) / shape;
    }
    const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
    for (;;) {
      const double x = normal(), root = 1 + c * x;
      if (root <= 0) continue;
      const double v = root * root * root;
      if (std::log(uniform()) < 0.5 * x * x + d * (1 - v + std::log(v))) return std::log(d * v);
    }
  }

  /// logit p of a draw p from Beta(a, b).
  double logit_beta(double a, double b) {
    const double one = log_gamma(a);
    return one - log_gamma(b);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15U;
  static std::uint64_t mixed(std::uint64_t z) {
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  std::uint64_t state_ = 0;
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace gsc
