#pragma once
// The words of warp.h on a processor: 32 values in an array, all lanes in lock step.

#include <algorithm>
#include <bit>
#include <cmath>

#define GSC_KERNEL inline
#define GSC_BOTH
#define GSC_UNROLL
#define GSC_UNROLL2
#define GSC_UNROLL4
#define GSC_UNROLL8

namespace gsc::cuda {

template <class T>
struct Lanes {
  T v[kLanes];
  Lanes() = default;
  Lanes(T same) {  // NOLINT(google-explicit-constructor): what all lanes agree on is also a value of each
    for (T& value : v) value = same;
  }
  template <class Function>
  static Lanes of(const Function& function) {
    Lanes result;
    for (int l = 0; l < kLanes; ++l) result.v[l] = function(l);
    return result;
  }
  friend Lanes operator+(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return static_cast<T>(a.v[l] + b.v[l]); });
  }
  friend Lanes operator-(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return static_cast<T>(a.v[l] - b.v[l]); });
  }
  friend Lanes operator*(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return static_cast<T>(a.v[l] * b.v[l]); });
  }
  friend Lanes operator/(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return static_cast<T>(a.v[l] / b.v[l]); });
  }
  friend Lanes operator%(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return static_cast<T>(a.v[l] % b.v[l]); });
  }
  friend Lanes operator&(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return static_cast<T>(a.v[l] & b.v[l]); });
  }
  friend Lanes operator>>(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return static_cast<T>(a.v[l] >> b.v[l]); });
  }
  friend Lanes<bool> operator<(const Lanes& a, const Lanes& b) {
    return Lanes<bool>::of([&](int l) { return a.v[l] < b.v[l]; });
  }
  friend Lanes<bool> operator>(const Lanes& a, const Lanes& b) { return b < a; }
  friend Lanes<bool> operator>=(const Lanes& a, const Lanes& b) {
    return Lanes<bool>::of([&](int l) { return a.v[l] >= b.v[l]; });
  }
  friend Lanes<bool> operator<=(const Lanes& a, const Lanes& b) { return b >= a; }
  friend Lanes<bool> operator==(const Lanes& a, const Lanes& b) {
    return Lanes<bool>::of([&](int l) { return a.v[l] == b.v[l]; });
  }
  friend Lanes<bool> operator!=(const Lanes& a, const Lanes& b) {
    return Lanes<bool>::of([&](int l) { return a.v[l] != b.v[l]; });
  }
  friend Lanes operator&&(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return a.v[l] && b.v[l]; });
  }
  friend Lanes operator||(const Lanes& a, const Lanes& b) {
    return of([&](int l) { return a.v[l] || b.v[l]; });
  }
  friend Lanes operator!(const Lanes& a) {
    return of([&](int l) { return !a.v[l]; });
  }
};

inline Lanes<int> lane_index() {
  return Lanes<int>::of([](int l) { return l; });
}
inline void sync() {}

template <class T>
Lanes<T> select(const Lanes<bool>& condition, const Lanes<T>& yes, const Lanes<T>& no) {
  return Lanes<T>::of([&](int l) { return condition.v[l] ? yes.v[l] : no.v[l]; });
}
template <class T>
Lanes<T> shuffle_xor(const Lanes<T>& value, int mask) {
  return Lanes<T>::of([&](int l) { return value.v[l ^ mask]; });
}
template <class T>
T broadcast(const Lanes<T>& value, int lane) {
  return value.v[lane];
}
template <class T>
T first(const Lanes<T>& value) {
  return value.v[0];
}
inline bool any(const Lanes<bool>& condition) {
  return std::find(condition.v, condition.v + kLanes, true) != condition.v + kLanes;
}
inline std::uint32_t ballot(const Lanes<bool>& condition) {
  std::uint32_t bits = 0;
  for (int l = 0; l < kLanes; ++l) bits |= condition.v[l] ? 1U << l : 0U;
  return bits;
}
inline int lowest_bit(std::uint32_t bits) { return std::countr_zero(bits); }
inline float warp_largest(const Lanes<float>& value) { return *std::max_element(value.v, value.v + kLanes); }
inline int warp_min(const Lanes<int>& value) { return *std::min_element(value.v, value.v + kLanes); }

template <class T, class At>
Lanes<T> load(const T* base, const Lanes<At>& index) {
  return Lanes<T>::of([&](int l) { return base[index.v[l]]; });
}
template <class T>
T load(const T* base, long index) {
  return base[index];
}
template <class T, class At>
Lanes<T> load(const T* base, const Lanes<At>& index, const Lanes<bool>& mask, T otherwise) {
  return Lanes<T>::of([&](int l) { return mask.v[l] ? base[index.v[l]] : otherwise; });
}
inline void load4(const float* base, const Lanes<int>& index, Lanes<float>* values) {
  for (int i = 0; i < 4; ++i) values[i] = Lanes<float>::of([&](int l) { return base[index.v[l] + i]; });
}
template <class T, class At>
void store(T* base, const Lanes<At>& index, const Lanes<T>& value) {
  for (int l = 0; l < kLanes; ++l) base[index.v[l]] = value.v[l];
}
template <class T, class At>
void store(T* base, const Lanes<At>& index, const Lanes<T>& value, const Lanes<bool>& mask) {
  for (int l = 0; l < kLanes; ++l)
    if (mask.v[l]) base[index.v[l]] = value.v[l];
}
template <class At>
void atomic_or(std::uint32_t* base, const Lanes<At>& index, const Lanes<std::uint32_t>& bits, const Lanes<bool>& mask) {
  for (int l = 0; l < kLanes; ++l)
    if (mask.v[l]) base[index.v[l]] |= bits.v[l];
}
inline std::uint32_t bit(int index) { return 1U << index; }
template <class At>
void atomic_add(std::int64_t* base, const Lanes<At>& index, const Lanes<std::int64_t>& value, const Lanes<bool>& mask) {
  for (int l = 0; l < kLanes; ++l)
    if (mask.v[l]) base[index.v[l]] += value.v[l];
}
inline int count_bits(std::uint32_t bits) { return std::popcount(bits); }
inline Lanes<int> count_before(std::uint32_t bits) {
  return Lanes<int>::of([&](int l) { return std::popcount(bits & ((1U << l) - 1U)); });
}
inline Lanes<std::uint32_t> bits_of(const Lanes<float>& value) {
  return Lanes<std::uint32_t>::of([&](int l) { return std::bit_cast<std::uint32_t>(value.v[l]); });
}
inline float float_of(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline Lanes<float> float_of(const Lanes<std::uint32_t>& bits) {
  return Lanes<float>::of([&](int l) { return std::bit_cast<float>(bits.v[l]); });
}
inline Lanes<std::int64_t> nearest_integer(const Lanes<float>& value) {
  return Lanes<std::int64_t>::of([&](int l) { return std::llrint(value.v[l]); });
}

template <class To, class From>
Lanes<To> convert(const Lanes<From>& value) {
  return Lanes<To>::of([&](int l) { return static_cast<To>(value.v[l]); });
}
template <class T>
Lanes<T> larger(const Lanes<T>& one, const Lanes<T>& other) {
  return Lanes<T>::of([&](int l) { return one.v[l] > other.v[l] ? one.v[l] : other.v[l]; });
}
template <class T>
Lanes<T> smaller(const Lanes<T>& one, const Lanes<T>& other) {
  return Lanes<T>::of([&](int l) { return one.v[l] < other.v[l] ? one.v[l] : other.v[l]; });
}
/// Of floats rounded once, as on a GPU; of doubles std::fma would be that, but is slow without an instruction for it.
template <class T>
Lanes<T> multiply_add(const Lanes<T>& a, const Lanes<T>& b, const Lanes<T>& c) {
  return Lanes<T>::of([&](int l) {
    return static_cast<T>(static_cast<double>(a.v[l]) * static_cast<double>(b.v[l]) + static_cast<double>(c.v[l]));
  });
}
template <class T>
Lanes<T> inverse_root(const Lanes<T>& x) {
  return Lanes<T>::of([&](int l) { return 1 / std::sqrt(x.v[l]); });
}
inline Lanes<float> power_of_two(const Lanes<float>& x) {
  return Lanes<float>::of([&](int l) { return std::exp2(x.v[l]); });
}
inline Lanes<double> exponential(const Lanes<double>& x) {
  return Lanes<double>::of([&](int l) { return std::exp(x.v[l]); });
}
template <class T>
Lanes<T> logarithm(const Lanes<T>& x) {
  return Lanes<T>::of([&](int l) { return std::log(x.v[l]); });
}
inline Lanes<float> rough_logarithm(const Lanes<float>& x) { return logarithm(x); }
template <class T>
Lanes<T> quotient(const Lanes<T>& x, const Lanes<T>& y) {
  return x / y;
}
template <class T>
requires std::is_floating_point_v<T> T logarithm(T x) { return std::log(x); }

}  // namespace gsc::cuda
