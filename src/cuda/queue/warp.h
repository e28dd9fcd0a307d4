#pragma once
// The one language in which kernels are written here. A kernel is a struct whose operator() says what one warp of 32
// lanes does; Lanes<T> is a value that differs from lane to lane, a plain T one that all lanes agree on. nvcc makes of
// it what the GPU runs: Lanes<T> is a T in a register. A C++ compiler makes of the same text loops over 32 values in
// lock step, one warp after the other: slow, but the very same arithmetic in the same order, so that it is tested where
// there is no GPU.
//
// What differs from lane to lane cannot be branched on (it would not compile in the emulation): select() instead. Warps
// do not talk to each other within a kernel, but for atomic_or and atomic_add of integers, whose order does not matter.

#include <cstddef>
#include <cstdint>

namespace gsc::cuda {

inline constexpr int kLanes = 32;

/// Which warp this is of how many, and its own piece of shared memory.
struct Warp {
  long index;
  long count;
  unsigned char* scratch;
};

}  // namespace gsc::cuda

#ifdef __CUDACC__
#include "cuda/queue/warp_device.h"  // IWYU pragma: export
#else
#include "cuda/queue/warp_emulated.h"  // IWYU pragma: export
#endif

namespace gsc::cuda {

/// Entry (row, col), col <= row, of a lower triangle stored by rows.
GSC_BOTH constexpr int triangle(int row, int col) { return row * (row + 1) / 2 + col; }

/// exp(x) = 2^t (1 + r), t = x / ln 2 as it rounds and r = x - t ln 2 what that leaves, ln 2 in two parts. x must be
/// finite, and exp(x) no more than a float holds. Half a unit in the last place and a little is added to what
/// power_of_two is wrong by. 2^t alone (__expf; three instructions less) is wrong by 2 + 1.17 |x| units, a part of it
/// always the same way, as float's 1 / ln 2 is, which no sum over data points makes up for.
GSC_KERNEL Lanes<float> exponential(Lanes<float> x) {
  const Lanes<float> t = x * 1.44269504F;
  const Lanes<float> high = multiply_add<float>(t, -0.693147182F, x), r = multiply_add<float>(t, 1.90465430e-9F, high);
  const Lanes<float> power = power_of_two(t);
  return multiply_add<float>(power, r, power);
}

template <class T>
GSC_KERNEL T warp_sum(Lanes<T> value) {
  GSC_UNROLL
  for (int offset = kLanes / 2; offset > 0; offset /= 2) value = value + shuffle_xor(value, offset);
  return first(value);
}

template <class T>
GSC_KERNEL T warp_max(Lanes<T> value) {
  GSC_UNROLL
  for (int offset = kLanes / 2; offset > 0; offset /= 2) value = larger<T>(value, shuffle_xor(value, offset));
  return first(value);
}

/// Sums over the lanes of 32 values at a time: lane i gets the total of values[i], in 31 exchanges instead of 160. In
/// each step two lanes that differ in one bit share the work: each keeps half of the values and gives away the other.
template <class T, int half = kLanes / 2>
GSC_KERNEL Lanes<T> transposed_sums(Lanes<T>* values) {
  const Lanes<bool> upper = (lane_index() & half) != 0;
  GSC_UNROLL
  for (int i = 0; i < half; ++i) {
    const Lanes<T> mine = select<T>(upper, values[i + half], values[i]);
    const Lanes<T> given = select<T>(upper, values[i], values[i + half]);
    values[i] = mine + shuffle_xor(given, half);
  }
  if constexpr (half > 1)
    return transposed_sums<T, half / 2>(values);
  else
    return values[0];
}

}  // namespace gsc::cuda
